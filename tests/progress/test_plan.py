from __future__ import annotations

import pytest

from treetop.progress.plan import Plan, Stage, duration, size


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.1, "1 s"), (8.4, "8 s"), (47, "45 s"), (100, "2 min"), (850, "14 min"), (12_000, "3 h 20 min"),
     (187_000, "2 days 3 h")],
)  # fmt: skip
def test_estimates_are_as_exact_as_they_can_be(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_sizes_have_their_unit() -> None:
    assert [size(2.0**power) for power in (3, 13, 23, 31)] == ["8 bytes", "8 KiB", "8 MiB", "2.0 GiB"]


def test_a_plan_is_one_line() -> None:
    stages = [Stage("embed", 60), Stage("tune level 0", 300), Stage("embed", 60), Stage("tune level 1", 420)]
    plan = Plan(stages, memory=1288490189, task="4,000 texts × 82 tokens, 3 epochs")
    assert plan.seconds == 840
    assert plan.describe() == (
        "4,000 texts × 82 tokens, 3 epochs: about 14 min, 1.2 GiB of memory (2 × embed, 2 × tune level)"
    )

"""A comparison in the terminal."""

from __future__ import annotations

import pytest

from treetop.apps.comparing import Field, compare
from treetop.apps.comparing.contenders import Cost
from treetop.apps.comparing.tables import cost_cells, show_comparison, verdict_of


def test_the_table_tells_real_differences_from_chance(field: Field, capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(field)
    show_comparison(found)
    said = capsys.readouterr().out
    value = f"{100 * found.metrics['p@1'].values[1]:.2f}"
    assert value in said
    assert "▼" in said
    assert "+0.0±0.0≈" in said
    assert "p@1: good is best, but not beyond chance: saved.csv" in said
    assert "texts per second" in said
    assert "torso (6–100)" in said
    assert "psp: rare labels count more" in " ".join(said.split())


def test_only_what_was_asked_for_is_shown(field: Field, capsys: pytest.CaptureFixture[str]) -> None:
    show_comparison(compare(field, ["coverage@5"]), ["coverage@5"])
    said = capsys.readouterr().out
    assert "coverage@5: good is highest (differences of this metric have no error)" in said
    assert "p@1" not in said


def test_the_best_beyond_chance(field: Field) -> None:
    line = compare(field).metrics["p@3"]
    pair = type(line)(line.values[:2], line.errors[:2], {(0, 1): line.verdicts[0, 1]})
    assert verdict_of(pair, ["good", "poor"]) == "good is best, beyond chance"


def test_what_is_not_known_is_a_dash() -> None:
    assert cost_cells(Cost()) == ["–"] * 5
    assert cost_cells(Cost(1.25, 2.5, 100, 3 << 20, 1, 1, 1234.5)) == ["1.2 s", "2.5 s", "100 MiB", "3 MiB", "1,234"]

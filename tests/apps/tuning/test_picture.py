"""Quality against cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps.tuning import Outcome
from treetop.apps.tuning.picture import draw, front
from trials import trial


def test_the_front_is_what_nothing_cheaper_beats() -> None:
    cheap, wasteful, good = (
        trial((0,), [0.0, 1.0], seconds=1),
        trial((1,), [0.0, 1.0], seconds=2),
        trial((2,), [1.0, 1.0], seconds=3),
    )
    assert front([good, wasteful, cheap]) == [cheap, good]


@pytest.mark.parametrize(("name", "begins"), [("p.svg", b"<?xml"), ("p.png", b"\x89PNG")])
def test_the_picture_is_drawn(name: str, begins: bytes, outcome: Outcome, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra 'plots'")
    draw(outcome, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begins)

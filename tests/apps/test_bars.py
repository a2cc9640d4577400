from __future__ import annotations

from treetop.apps.bars import bar


def test_bars_are_as_long_as_their_share() -> None:
    assert bar(1, 4) == "████"
    assert bar(0.5, 4) == "██"
    assert bar(0.3, 4) == "█▎"
    assert bar(1e-9, 4) == "▏"
    assert bar(0, 4) == ""

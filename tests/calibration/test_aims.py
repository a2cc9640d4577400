from __future__ import annotations

import pytest

from treetop.calibration.aims import Aim, parse_aim
from treetop.errors import ConfigError


@pytest.mark.parametrize(
    ("words", "aim"),
    [
        ("f1", Aim("f1")),
        ("auto", Aim("f1")),
        ("f1-macro", Aim("f1-macro")),
        ("f1-per-label", Aim("f1", per_label=True)),
        ("precision:0.9", Aim("precision", 0.9)),
        (" precision-per-label:1 ", Aim("precision", 1.0, per_label=True)),
    ],
)
def test_words(words: str, aim: Aim) -> None:
    assert parse_aim(words) == aim


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("best", "give a number, f1, f1-macro"),
        ("", "give a number, f1, f1-macro"),
        ("precision", "needs its value, as precision:0.9"),
        ("f1:0.9", "F1 has none"),
        ("precision:90", "above 0 and not above 1"),
        ("precision:much", "above 0 and not above 1"),
        ("precision:nan", "above 0 and not above 1"),
        ("f1-macro-per-label", "f1-per-label"),
    ],
)
def test_what_is_no_aim(words: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        parse_aim(words)

"""What a threshold is to achieve, in words: `f1`, `f1-macro`, `precision:0.9`, each also `-per-label`."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias, cast

from treetop.errors import ConfigError

__all__ = ["AIMS_HELP", "Aim", "Goal", "parse_aim"]

Goal: TypeAlias = Literal["f1", "f1-macro", "precision"]
AIMS_HELP = "a number, f1, f1-macro, f1-per-label, precision:0.9 or precision-per-label:0.9"
_FORM = re.compile(r"(f1|f1-macro|precision)(-per-label)?(?::(.+))?")
_OTHER_NAMES = {"auto": "f1", "f1-micro": "f1"}


class Aim(NamedTuple):
    """The goal of a threshold."""

    goal: Goal
    """The best micro-F1, the best macro-F1, or at least a precision."""
    precision: float = 0.0
    """The precision wanted, if that is the goal."""
    per_label: bool = False
    """Whether labels with enough held-out texts get a threshold of their own."""


def parse_aim(words: str) -> Aim:
    """`"precision:0.9"` → a precision of at least 0.9. `auto` is `f1`."""
    found = _FORM.fullmatch(_OTHER_NAMES.get(words.strip(), words.strip()))
    if found is None:
        raise ConfigError(f"threshold is {words!r}; give {AIMS_HELP}")
    goal, per_label, value = cast(Goal, found[1]), bool(found[2]), found[3]
    if goal == "f1-macro" and per_label:
        raise ConfigError(f"threshold is {words!r}; the threshold of a label can but serve its own F1: f1-per-label")
    if (goal == "precision") != (value is not None):
        raise ConfigError(f"threshold is {words!r}; a precision needs its value, as precision:0.9, and F1 has none")
    return Aim(goal, 0.0 if value is None else _share(value, words), per_label)


def _share(value: str, words: str) -> float:
    try:
        share = float(value)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise ConfigError(f"threshold is {words!r}; give a precision above 0 and not above 1, as precision:0.9")
    return share

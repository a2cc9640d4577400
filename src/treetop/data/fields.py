"""Which fields of a record hold the text, the labels and their weights, and how a field becomes a row of labels."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from treetop.errors import ConfigError, DataError

__all__ = ["HOW_TO_NAME", "Fields", "absent", "as_name", "as_names", "as_text", "as_weights", "is_null", "joined"]


HOW_TO_NAME = "name what to read by --text and --labels (in Python text=, labels=)"
"""What to do where the name of a field is asked for by an option."""
_NULLS = ("NAType", "NaTType")


@dataclass(frozen=True, kw_only=True, slots=True)
class Fields:
    """The names of the fields (columns) to read."""

    text: str | Sequence[str] = "text"
    """One field, or several whose texts are joined."""
    labels: str = "labels"
    weights: str | None = None
    """A field with one number per label; None: every label counts 1."""
    separator: str | None = None
    """What stands between labels that are written as one string; None: found out; empty: nothing, one label a row."""

    def __post_init__(self) -> None:
        if not self.text or not all(self.texts):
            raise ConfigError(f"the text is in {self.text!r}; name one field or column, or several")
        if not isinstance(self.labels, str):
            raise ConfigError(f"the labels are in {self.labels!r}; name one field or column")

    @property
    def texts(self) -> tuple[str, ...]:
        """The fields that hold the text, one or several."""
        return (self.text,) if isinstance(self.text, str) else tuple(self.text)

    @property
    def wanted(self) -> tuple[str, ...]:
        """All fields that are read: texts, labels, and weights if there are any."""
        return (*self.texts, self.labels, *(() if self.weights is None else (self.weights,)))


def absent(kind: str, name: str, existing: Iterable[str], remedy: str = HOW_TO_NAME) -> DataError:
    """The error for a field or column that is not there: what is there, the nearest name, and what to do."""
    existing = list(existing)
    near = difflib.get_close_matches(name, existing, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    listed = ", ".join(one if len(one) <= 60 else one[:57] + "…" for one in existing[:20]) or "none"
    return DataError(f"no {kind} {name!r}; there are: {listed}; {hint}{remedy}")


def joined(parts: Iterable[str]) -> str:
    """The parts of a text, a line each; empty ones are left out."""
    return "\n".join(part for part in parts if part and not part.isspace())


def is_null(value: Any) -> bool:
    """Whether a value stands for nothing: null, NaN, or what pandas has for a missing value."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in _NULLS


def as_text(value: Any, name: str) -> str:
    """The value, if it is a text."""
    if not isinstance(value, str):
        remedy = "write one object per text, as pandas does by to_json(orient='records', lines=True)"
        remedy = remedy if isinstance(value, dict | list) else 'write "" for an empty one'
        raise DataError(f"field {name!r} is {_shown(value)}, expected a text; {remedy}")
    return value


def as_names(value: Any, field: str) -> list[str]:
    """A list of names from a list (or tuple, set, array) of strings or whole numbers; nulls are no labels."""
    if not isinstance(value, list | tuple | set | frozenset):
        if not hasattr(value, "tolist"):
            raise DataError(f'field {field!r} is {_shown(value)}, expected a list such as ["a", "b"]')
        value = value.tolist()
    names = [part for part in value if isinstance(part, str)]
    if len(names) == len(value):  # as a rule
        return names
    return [as_name(part, field) for part in value if not is_null(part)]


def as_weights(value: Any, name: str) -> list[float]:
    """A list of numbers; their range is checked where they are stored."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple):
        raise DataError(f"field {name!r} is {_shown(value)}, expected a list with one number per label")
    for part in value:
        if isinstance(part, bool) or not isinstance(part, int | float):
            raise DataError(f"field {name!r} holds {_shown(part)}, expected numbers, one per label")
    return [as_number(part) for part in value]


def as_number(value: float) -> float:
    """The number as a float; whole numbers beyond all floats are infinite, which is refused where they are stored."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def as_name(value: Any, field: str) -> str:
    """A label's name from a string or a whole number; 7.0 is 7, which is how columns with gaps hold it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    raise DataError(f"field {field!r} holds {_shown(value)}, expected label names (strings or whole numbers)")


def _shown(value: Any) -> str:
    """The value and its kind, short enough for one line of a message."""
    words = {str: "a string", dict: "an object", list: "a list", bool: "a boolean", type(None): "null"}
    kind = words.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
    text = repr(value)
    return kind if value is None else f"{kind} ({text if len(text) <= 40 else text[:37] + '...'})"

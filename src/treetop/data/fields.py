"""Which fields of a record hold the text, the labels and their weights, and how a field becomes a row of labels."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from treetop.errors import DataError

__all__ = ["Fields", "LabelRow", "absent", "as_names", "as_text", "as_weights", "label_row"]

LabelRow: TypeAlias = tuple[Sequence[str], Sequence[float] | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fields:
    """The names of the fields (columns) to read."""

    text: str = "text"
    labels: str = "labels"
    weights: str | None = None
    """A field with one number per label; None: every label counts 1."""
    separator: str | None = None
    """What stands between labels that are written as one string; None: found out; empty: nothing, one label a row."""


def absent(kind: str, name: str, existing: Iterable[str]) -> DataError:
    """The error for a field or column that is not there: what is there, and the nearest name."""
    existing = list(existing)
    near = difflib.get_close_matches(name, existing, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else "name the one to read, or rename it"
    listed = ", ".join(existing[:20]) or "none"
    return DataError(f"no {kind} {name!r}; there are: {listed}; {hint}")


def as_text(value: Any, name: str) -> str:
    """The value, if it is a text."""
    if not isinstance(value, str):
        raise DataError(f'field {name!r} is {_shown(value)}, expected a text; write "" for an empty one')
    return value


def label_row(record: dict[str, Any], fields: Fields) -> LabelRow:
    """Names and weights of the labels of one JSON record."""
    if fields.labels not in record:
        raise absent("field", fields.labels, record)
    value = record[fields.labels]
    if isinstance(value, dict):
        return list(value), as_weights(list(value.values()), fields.labels)
    names = as_names(value, fields)
    if fields.weights is None:
        return names, None
    if fields.weights not in record:
        raise absent("field", fields.weights, record)
    return names, as_weights(record[fields.weights], fields.weights)


def as_names(value: Any, fields: Fields) -> list[str]:
    """A list of names from a list of strings or whole numbers, or from one string if a separator is given."""
    if isinstance(value, str) and fields.separator is not None:
        parts = value.split(fields.separator) if fields.separator else [value]
        return [part.strip() for part in parts]
    if not isinstance(value, list):
        hint = "; or name the separator of labels in a string" if isinstance(value, str) else ""
        raise DataError(f'field {fields.labels!r} is {_shown(value)}, expected a list such as ["a", "b"]{hint}')
    return [_as_name(part, fields.labels) for part in value]


def as_weights(value: Any, name: str) -> list[float]:
    """A list of numbers; their range is checked where they are stored."""
    if not isinstance(value, list):
        raise DataError(f"field {name!r} is {_shown(value)}, expected a list with one number per label")
    for part in value:
        if isinstance(part, bool) or not isinstance(part, int | float):
            raise DataError(f"field {name!r} holds {_shown(part)}, expected numbers, one per label")
    return [float(part) for part in value]


def _as_name(value: Any, field: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise DataError(f"field {field!r} holds {_shown(value)}, expected label names (strings or whole numbers)")


def _shown(value: Any) -> str:
    """The value and its kind, short enough for one line of a message."""
    words = {str: "a string", dict: "an object", list: "a list", bool: "a boolean", type(None): "null"}
    kind = words.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
    text = repr(value)
    return kind if value is None else f"{kind} ({text if len(text) <= 40 else text[:37] + '...'})"

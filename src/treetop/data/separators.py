"""Labels that are written as one string in a table's cell, and how they are told apart.

A given separator is used as it is. Otherwise the first cells decide: lists in brackets (`["a", "b"]`, as JSON or as
Python prints them) are read as lists; else the separator is the first of `|`, `;` and `,` that occurs in any of them;
else each cell is one label. If the label space is known, the separator is the one that yields the most known names,
so that a test file is read like the training file it belongs to.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from treetop.data.dataset import LabelSpace
from treetop.errors import DataError

__all__ = ["SAMPLE", "Splitter", "splitter"]

SAMPLE = 1000
"""Cells that are looked at before a separator is chosen."""

Splitter: TypeAlias = Callable[[str], list[str]]

_CANDIDATES = ("|", ";", ",")
_NO_COMMA = re.compile(r"""['"]\s+['"]""")  # numpy prints arrays of strings without commas


def splitter(separator: str | None, cells: Sequence[str], space: LabelSpace | None = None) -> Splitter:
    """The function that turns a cell into label names, chosen by the separator or else by the first cells."""
    if separator is None:
        filled = [cell for cell in cells if cell.strip()]
        if filled and all(_bracketed(cell) for cell in filled):
            return _listed
        separator = _guess(filled, space)
    return lambda cell: _parts(cell, separator)


def _parts(cell: str, separator: str) -> list[str]:
    parts = cell.split(separator) if separator else [cell]
    return [name for part in parts if (name := part.strip())]


def _guess(cells: Sequence[str], space: LabelSpace | None) -> str:
    if space is not None:
        shares = {separator: _share_known(cells, separator, space) for separator in (*_CANDIDATES, "")}
        best = max(shares, key=shares.__getitem__)
        if shares[best] > 0:
            return best
    return next((separator for separator in _CANDIDATES if any(separator in cell for cell in cells)), "")


def _share_known(cells: Sequence[str], separator: str, space: LabelSpace) -> float:
    names = [name for cell in cells for name in _parts(cell, separator)]
    return sum(name in space.index for name in names) / max(len(names), 1)


def _bracketed(cell: str) -> bool:
    return cell.strip()[:1] == "[" and cell.strip()[-1:] == "]"


def _listed(cell: str) -> list[str]:
    if not cell.strip():
        return []
    try:
        values = json.loads(cell)
    except json.JSONDecodeError:
        values = _python_list(cell)
    if not isinstance(values, list) or any(not isinstance(value, str | int) for value in values):
        raise DataError(f"the labels {cell[:60]!r} are not a list of names; write them as a JSON list of strings")
    return [str(value) for value in values]


def _python_list(cell: str) -> object:
    try:
        return None if _NO_COMMA.search(cell) else ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None

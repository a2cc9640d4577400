"""Labels that are written as one string in a table's cell, and how they are told apart.

A given separator is used as it is. Otherwise the first cells decide. Lists in brackets (`["a", "b"]`, as JSON or as
Python prints them, or `<a><b>`) are read as lists. Else that separator wins under which the cells are told in the
fewest bits: a list of the distinct names, and for each label its place in that list. Cut too seldom, whole cells become
names and the list is long; cut too often, inside names, there are more labels to tell. Where some commas are followed
by a space and others are not, one kind may belong to names: what follows it is hardly ever what a cell begins with. If
the label space is known, the separator is the one that yields the most known names, so that a test file is read like
the training file it belongs to.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log2

from treetop.data.dataset import LabelSpace
from treetop.data.tally import LONGEST_MISSING, MISSING, Tally
from treetop.errors import DataError

__all__ = ["SAMPLE", "Splitter", "splitter"]

SAMPLE = 1000
"""Cells that are looked at before a separator is chosen."""

_TIGHT = ",(?! )"  # a comma that no space follows, for names such as "Smith, John"
_SEPARATORS = ("\n", "|", ";", ",", "")
_COMMAS = (",", ", ", _TIGHT)
_LETTER = 5.0  # bits
_RARE_IN_NAMES = {"\n": 40.0, "|": 30.0, ";": 20.0, ",": 8.0}  # bits that such a letter costs beyond the usual
_MOSTLY = 0.8  # of the neighbours are never seen apart: they are parts of one name
_LOOSER = 3  # times as often what begins a cell follows one kind of comma as the other: only that one separates
_OFTEN, _FEWEST_PAIRS = 3, 5
_TAGS = re.compile(r"\s*(?:<[^<>]+>\s*)+")
_NO_COMMA = re.compile(r"""['"]\s+['"]""")  # numpy prints arrays of strings without commas


class Splitter:
    """Turns a cell into label names, and counts cells that hold a word for nothing."""

    def __init__(self, separator: str, tally: Tally) -> None:
        self.separator = separator
        self.tally = tally

    def __call__(self, cell: str) -> list[str]:
        """The names in a cell."""
        if len(cell) <= LONGEST_MISSING and cell in MISSING:
            self.tally.missing_cells += 1
            return []
        return [name for part in self.parts(cell) if (name := part.strip())]

    def parts(self, cell: str) -> Sequence[str]:
        """The cell, cut."""
        return cell.split(self.separator)

    @property
    def how(self) -> str:
        """How the cells are cut, in words."""
        return f"labels split at {self.separator!r}"


class _Whole(Splitter):
    """A cell is one label."""

    how = "each cell is one label"

    def parts(self, cell: str) -> Sequence[str]:
        return (cell,)


class _Tight(Splitter):
    """Commas cut only where no space follows."""

    how = "labels split at ',' where no space follows"
    _cut = re.compile(_TIGHT)

    def parts(self, cell: str) -> Sequence[str]:
        return self._cut.split(cell)


class _Tags(Splitter):
    """Names in angle brackets."""

    how = "labels are in angle brackets"

    def parts(self, cell: str) -> Sequence[str]:
        return cell.strip().strip("<>").replace("> <", "><").split("><")


class _Listed(Splitter):
    """A list in brackets."""

    how = "labels are lists in brackets"

    def parts(self, cell: str) -> Sequence[str]:
        return _listed(cell) if cell.strip() else ()


def splitter(
    separator: str | None, cells: Sequence[str], space: LabelSpace | None = None, tally: Tally | None = None
) -> Splitter:
    """The function that turns a cell into label names, chosen by the separator or else by the first cells."""
    tally = Tally() if tally is None else tally
    filled = [cell for cell in cells if cell.strip() and cell not in MISSING]
    chosen = _chosen(filled, space, tally) if separator is None else _named(separator, tally)
    tally.split, tally.guessed = chosen.how, separator is None
    if isinstance(chosen, _Whole | _Listed | _Tags):
        return chosen
    tally.inseparable = _inseparable([chosen(cell) for cell in filled])
    return chosen


def _chosen(cells: Sequence[str], space: LabelSpace | None, tally: Tally) -> Splitter:
    if cells and all(_bracketed(cell) for cell in cells):
        return _Listed("", tally)
    if cells and all(_TAGS.fullmatch(cell) for cell in cells):
        return _Tags("", tally)
    return _named(_guess(cells, space), tally)


def _named(separator: str, tally: Tally) -> Splitter:
    kind = {"": _Whole, _TIGHT: _Tight}.get(separator, Splitter)
    return kind(separator, tally)


def _guess(cells: Sequence[str], space: LabelSpace | None) -> str:
    if space is not None and (known := _best_known(cells, space)) is not None:
        return known
    present = [one for one in _SEPARATORS if any(one in cell for cell in cells)] or [""]
    bits = {one: _bits(_cut(cells, one)) for one in present}
    best = min((one for one in present if one), key=bits.__getitem__, default="")
    if best and _is_one_name(_cut(cells, best)):
        return ""
    return _comma(cells) if best == "," else best


def _cut(cells: Sequence[str], separator: str) -> list[list[str]]:
    split = _named(separator, Tally())
    return [split(cell) for cell in cells]


def _best_known(cells: Sequence[str], space: LabelSpace) -> str | None:
    """The separator under which most names are known; None if none is."""
    shares = {one: _share_known(_cut(cells, one), space) for one in dict.fromkeys((*_SEPARATORS, *_COMMAS))}
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] > 0 else None


def _comma(cells: Sequence[str]) -> str:
    """Which commas separate: all, those before a space, or those before none."""
    begun = {cell.partition(",")[0].strip() for cell in cells}
    pieces = [piece for cell in cells for piece in cell.split(",")[1:]]
    wide = [piece.strip() in begun for piece in pieces if piece.startswith(" ")]
    tight = [piece.strip() in begun for piece in pieces if not piece.startswith(" ")]
    if min(len(wide), len(tight)) < len(pieces) / 50:
        return ","
    of_wide, of_tight = sum(wide) / len(wide), sum(tight) / len(tight)
    return ", " if of_wide > _LOOSER * of_tight else _TIGHT if of_tight > _LOOSER * of_wide else ","


def _bits(rows: Sequence[Sequence[str]]) -> float:
    """How many bits it takes to tell the rows: each distinct name once, then for each label which it is."""
    counts = Counter(name for row in rows for name in row)
    total = max(1, counts.total())
    told = sum(count * log2(total / count) for count in counts.values())
    return told + sum(_name_bits(name) for name in counts)


def _name_bits(name: str) -> float:
    return _LETTER * (len(name) + 1) + sum(bits for letter, bits in _RARE_IN_NAMES.items() if letter in name)


def _share_known(rows: Sequence[Sequence[str]], space: LabelSpace) -> float:
    names = [name for row in rows for name in row]
    return sum(name in space.index for name in names) / max(len(names), 1)


def _is_one_name(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the cut goes through names: what it parts is hardly ever seen apart."""
    neighbours = sum(len(row) - 1 for row in rows)
    return sum(_bound(rows).values()) > _MOSTLY * neighbours


def _inseparable(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """Neighbours that are never seen apart, if there are several."""
    found = _bound(rows)
    often = sum(count >= _OFTEN for count in Counter(name for row in rows for name in row).values())
    return tuple(found) if len(found) >= max(_FEWEST_PAIRS, often / 100) else ()


def _bound(rows: Sequence[Sequence[str]]) -> dict[tuple[str, str], int]:
    """Pairs of neighbours of which neither is seen without the other, and how often they are."""
    single = Counter(name for row in rows for name in row)
    pairs = Counter(pair for row in rows for pair in pairwise(row))
    return {pair: n for pair, n in pairs.most_common() if n >= _OFTEN and single[pair[0]] == single[pair[1]] == n}


def _bracketed(cell: str) -> bool:
    return cell.strip()[:1] == "[" and cell.strip()[-1:] == "]"


def _listed(cell: str) -> list[str]:
    try:
        values = json.loads(cell)
    except (ValueError, RecursionError):
        values = _python_list(cell)
    if not isinstance(values, list) or any(not isinstance(value, str | int | None) for value in values):
        raise DataError(f"the labels {cell[:60]!r} are not a list of names; write them as a JSON list of strings")
    return [str(value) for value in values if value is not None]


def _python_list(cell: str) -> object:
    try:
        return None if _NO_COMMA.search(cell) else ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None

"""Checks of packed levels before they are searched: native code must never follow an index out of an array.

What is as long as there are nodes is looked at here. Features, offsets of rows and positions of children make up nearly
all of a model, which may be mapped and larger than memory: the native search looks at those of a chunk when it comes to
the chunk for the first time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.errors import DataError, StoreError
from treetop.kernels.layout import PAGE, Packed

__all__ = ["check_level", "check_levels", "damage"]

_TYPES: dict[str, tuple[type[Any], ...]] = {
    "row_ptr": (np.int64,),
    "row_feature": (np.uint16, np.int32),
    "entry_ptr": (np.uint16, np.int64),
    "entry_child": (np.uint8, np.uint16, np.uint32),
    "entry_value": (np.int8, np.float16, np.float32),
    "bias": (np.float32,),
    "children_ptr": (np.int64,),
    "children": (np.int32,),
    "width": (np.int64,),
}
_OPTIONAL: dict[str, tuple[type[Any], ...]] = {
    "entry_turn": (np.int64,),
    "scale": (np.float32,),
    "dense": (np.float16, np.float32),
}

_MOST = 2**31 - 1  # columns: their numbers have 32 bits


def check_level(level: Packed, number: int | None = None, *, file: Path | None = None) -> None:
    """Refuse arrays of wrong types or sizes and offsets that do not rise; `file` is where they came from."""
    where = "the level" if number is None else f"level {number}"
    try:
        _check_types(level, where)
        _check_sizes(level, where)
        _check_offsets(level, where)
    except DataError as error:
        raise _blame(str(error), file) from None


def check_levels(levels: Sequence[Packed], files: Sequence[Path | None] | None = None) -> None:
    """Check each level, and that they make a tree: a node of one is a parent of the next, and has one parent only."""
    if not levels:
        raise DataError("a tree needs at least one level")
    parents = [len(level["children_ptr"]) - 1 if "children_ptr" in level else 0 for level in levels[1:]]
    for number, level in enumerate(levels):
        file = None if files is None else files[number]
        check_level(level, number, file=file)
        try:
            _check_chain(levels[0], level, number, parents[number] if number < len(parents) else None)
        except DataError as error:
            raise _blame(str(error), file) from None


def damage(error: ValueError, files: Sequence[Path | None] | None) -> DataError | StoreError:
    """What to raise when the native search reports "level number: what is wrong"."""
    number, _, what = str(error).partition(": ")
    return _blame(f"level {number}: {what}", None if files is None else files[int(number)])


def _blame(message: str, file: Path | None) -> DataError | StoreError:
    if file is None:
        return DataError(message)
    return StoreError(f"the file is damaged ({message}); restore it or train again", path=file)


def _check_offsets(level: Packed, where: str) -> None:
    entries = len(level["entry_child"])
    within = entries % PAGE if level["entry_ptr"].dtype == np.uint16 else entries
    ends = {"row_ptr": len(level["row_feature"]), "entry_ptr": within, "children_ptr": len(level["children"])}
    for name, last in ends.items():
        offsets = level[name]
        if offsets[0] != 0 or offsets[-1] != last or (name != "entry_ptr" and np.any(offsets[1:] < offsets[:-1])):
            raise DataError(f"{where}: {name} does not rise from 0 to {last}; the arrays do not belong together")
    turn, rows = level.get("entry_turn"), len(level["row_feature"])
    if turn is not None and (turn[0] < 1 or turn[-1] != rows + 1 or np.any(turn[1:] < turn[:-1])):
        raise DataError(f"{where}: entry_turn does not rise to {rows + 1}; the arrays do not belong together")


def _check_types(level: Packed, where: str) -> None:
    needed = dict(_TYPES)
    if "entry_ptr" in level and level["entry_ptr"].dtype == np.uint16:
        needed["entry_turn"] = _OPTIONAL["entry_turn"]
    if "entry_value" in level and level["entry_value"].dtype == np.int8:
        needed["scale"] = _OPTIONAL["scale"]
    for name, types in (needed | {name: kinds for name, kinds in _OPTIONAL.items() if name in level}).items():
        if name not in level:
            raise DataError(f"{where} has no array {name!r}; it was not made by `pack`")
        array = level[name]
        if array.dtype not in types or array.ndim != 1 or not (array.flags.c_contiguous and array.flags.aligned):
            raise DataError(f"{where}: {name} is {array.dtype} of {array.ndim} dimensions, not as `pack` makes it")


def _check_sizes(level: Packed, where: str) -> None:
    rows, entries, nodes = len(level["row_feature"]), len(level["entry_child"]), len(level["children"])
    columns, dims = (int(size) for size in level["width"]) if len(level["width"]) == 2 else (-1, -1)
    if not (0 <= columns <= _MOST and 0 <= dims <= _MOST):
        raise DataError(f"{where}: width is {level['width']}, which no features have")
    parents = max(len(level["children_ptr"]), 2) - 1
    pages = max(1, -(-columns // PAGE)) if level["row_feature"].dtype == np.uint16 else 1
    sizes = {"children_ptr": parents + 1, "row_ptr": parents * pages + 1, "entry_ptr": rows + 1}
    sizes |= {"entry_value": entries, "bias": nodes}
    if "scale" in level:
        sizes["scale"] = nodes
    if level["entry_ptr"].dtype == np.uint16:
        sizes["entry_turn"] = entries // PAGE + 1
    for name, size in sizes.items():
        if len(level[name]) != size:
            raise DataError(f"{where}: {name} has {len(level[name])} elements where {size} were expected")
    if (len(level["dense"]) if "dense" in level else 0) != nodes * dims:
        raise DataError(f"{where}: the dense weights are not {nodes} nodes × {dims} dims")
    value = np.dtype(np.float16) if level["entry_value"].dtype == np.int8 else level["entry_value"].dtype
    if "dense" in level and level["dense"].dtype != value:
        raise DataError(f"{where}: dense weights are {level['dense'].dtype}, others {level['entry_value'].dtype}")


def _check_chain(first: Packed, level: Packed, number: int, parents: int | None) -> None:
    """`parents` is how many the next level has; None at the last, whose nodes are labels."""
    children = level["children"]
    if number == 0 and len(level["children_ptr"]) != 2:
        raise DataError(f"the first level has {len(level['children_ptr']) - 1} parents; it must have one, the root")
    if children.size and (children.min() < 0 or (parents is not None and children.max() >= parents)):
        raise DataError(f"level {number} has node {children.max()}; the next level knows {parents} parents")
    if (twice := _repeated(children)) is not None:
        raise DataError(f"level {number} has node {twice} under two parents")
    if tuple(level["width"]) != tuple(first["width"]):
        raise DataError(f"level {number} was trained on features of width {tuple(level['width'])}, not as level 0")


def _repeated(ids: NDArray[np.int32]) -> int | None:
    """One of the ids that come more than once, if any do."""
    if ids.max(initial=-1) < 8 * len(ids):
        counts = np.bincount(ids, minlength=1)
        return int(counts.argmax()) if counts.max() > 1 else None
    ordered = np.sort(ids)  # a table of counts would be as long as a damaged id is large
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    return int(twice[0]) if twice.size else None

"""A level from packed runs of its parents: in memory while it is small, in a file as soon as it is not.

Runs come one after the other, are written as narrowly as `layout` says and let go at once, so that a level is never
held twice.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treetop.errors import DataError
from treetop.kernels.layout import Packed, to_pages, to_turns
from treetop.spool import Spool

__all__ = ["Runs"]

_MOST_HELD = 1 << 28  # Bytes: joining them for the last time takes as much again.


class Runs:
    """Runs of a level, in the order of its parents; `scratch` is a folder on a disk, None the system's."""

    def __init__(self, scratch: Path | None = None, *, most: int | None = None) -> None:
        self._scratch, self._most = scratch, _MOST_HELD if most is None else most
        self._held: list[Packed] = []
        self._held_bytes = 0
        self._width: NDArray[np.int64] | None = None
        self._rows = self._entries = self._nodes = 0
        self._files: dict[str, Spool] = {}

    def add(self, run: Packed) -> None:
        """The next parents."""
        if self._width is None:
            self._width = run["width"]
            self._hold({"row_ptr": np.zeros(1, np.int64), "children_ptr": np.zeros(1, np.int64)})
            self._hold({"entry_ptr": np.zeros(1, np.uint16)})
        if tuple(run["width"]) != tuple(self._width):
            raise DataError(f"runs of one level differ in width: {tuple(self._width)} and {tuple(run['width'])}")
        self._hold(self._placed(run))

    def finish(self) -> Packed:
        """The arrays of the level: in memory, or mapped from the file."""
        if self._width is None:
            raise DataError("a level needs at least one run of parents")
        self._hold({"entry_turn": np.array([self._rows + 1])})
        if not self._files:
            arrays = _joined(self._held)
        else:
            self._spill()
            arrays = {name: file.mapped() for name, file in self._files.items()}
        return arrays | {"width": self._width}

    def _placed(self, run: Packed) -> Packed:
        """A run as a part of the level: what points into arrays goes on where the runs before have ended."""
        part = {name: array for name, array in run.items() if name != "width"} | to_pages(run)
        part |= to_turns(run["entry_ptr"] + self._entries, self._rows)
        part["row_ptr"] = part["row_ptr"][1:] + self._rows
        part["children_ptr"] = run["children_ptr"][1:] + self._nodes
        self._rows += len(run["row_feature"])
        self._entries += len(run["entry_child"])
        self._nodes += len(run["children"])
        return part

    def _hold(self, part: Packed) -> None:
        self._held.append(part)
        self._held_bytes += sum(array.nbytes for array in part.values())
        if self._held_bytes > self._most:
            self._spill()

    def _spill(self) -> None:
        for part in self._held:
            for name, array in part.items():
                if name not in self._files:
                    self._files[name] = Spool(self._scratch, array.dtype)
                self._files[name].append(array)
        self._held, self._held_bytes, self._most = [], 0, 0


def _joined(parts: list[Packed]) -> Packed:
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: np.concatenate([part[name] for part in parts if name in part]) for name in names}

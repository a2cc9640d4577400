"""A level from packed runs of its parents: in memory while it is small, in a file as soon as it is not.

Runs come one after the other and are let go at once, so that a level is never held twice. The file has no name, and
goes when nobody looks at its arrays any more, or when the process ends, however that happens.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treetop.errors import DataError
from treetop.kernels.pack import OFFSETS, Packed, concat_packed

__all__ = ["Runs"]

_MOST_HELD = 1 << 28  # Bytes: joining them for the last time takes as much again.
_AT_ONCE = 1 << 24


class Runs:
    """Runs of a level, in the order of its parents; `scratch` is a folder on a disk, None the system's."""

    def __init__(self, scratch: Path | None = None, *, most: int | None = None) -> None:
        self._scratch, self._most = scratch, _MOST_HELD if most is None else most
        self._held: list[Packed] = []
        self._held_bytes = 0
        self._width: NDArray[np.int64] | None = None
        self._files: dict[str, _Spool] = {}

    def add(self, run: Packed) -> None:
        """The next parents."""
        if self._width is not None and tuple(run["width"]) != tuple(self._width):
            raise DataError(f"runs of one level differ in width: {tuple(self._width)} and {tuple(run['width'])}")
        self._width = run["width"]
        self._held.append(run)
        self._held_bytes += sum(array.nbytes for array in run.values())
        if self._held_bytes > self._most:
            self._spill()

    def finish(self) -> Packed:
        """The arrays of the level: in memory, or mapped from the file."""
        if not self._files:
            return concat_packed(self._held)
        self._spill()
        assert self._width is not None
        return {name: file.mapped() for name, file in self._files.items()} | {"width": self._width}

    def _spill(self) -> None:
        for run in self._held:
            for name, array in run.items():
                if name != "width":
                    self._append(name, array)
        self._held, self._held_bytes, self._most = [], 0, 0

    def _append(self, name: str, array: NDArray[Any]) -> None:
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = _Spool(self._scratch, array.dtype)
            if name in OFFSETS:
                file.append(np.zeros(1, array.dtype))
        file.append(array[1:] + file.last if name in OFFSETS else array)


class _Spool:
    """An array in a file of its own, which grows at its end."""

    def __init__(self, folder: Path | None, kind: np.dtype[Any]) -> None:
        self._folder, self._kind = folder, kind
        self._file = self._new_file()
        self.last: Any = 0
        """The last value."""

    def append(self, values: NDArray[Any]) -> None:
        """Add values; if they are of a wider type, so are all from now on."""
        if (wider := np.promote_types(self._kind, values.dtype)) != self._kind:
            self._widen(wider)
        if len(values):
            self.last = values[-1]
            self._write(values)

    def mapped(self) -> NDArray[Any]:
        """All values, read-only."""
        self._file.flush()
        empty = self._file.tell() == 0
        return np.empty(0, self._kind) if empty else np.asarray(np.memmap(self._file, self._kind, "r"))

    def _widen(self, kind: np.dtype[Any]) -> None:
        before = self.mapped()
        self._kind, self._file = kind, self._new_file()
        for first in range(0, len(before), _AT_ONCE):
            self._write(before[first : first + _AT_ONCE])

    def _write(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, self._kind).view(np.uint8).data)

    def _new_file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self._folder, prefix=".treetop-")

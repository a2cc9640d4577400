"""Arrays too large for memory while they are made: in a file that has no name.

It goes when nobody looks at its arrays any more, or when the process ends, however that happens.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spool"]

_AT_ONCE = 1 << 24  # values


class Spool:
    """An array that grows at its end; `folder` is on a disk, None the system's for such files."""

    def __init__(self, folder: Path | None, kind: np.dtype[Any]) -> None:
        self._folder, self._kind = folder, kind
        self._file = self._new_file()

    def append(self, values: NDArray[Any]) -> None:
        """Add values; if they are of a wider type, so are all from now on."""
        if (wider := np.promote_types(self._kind, values.dtype)) != self._kind:
            self._widen(wider)
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

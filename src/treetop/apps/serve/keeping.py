"""Feedback on disk: JSON lines that `treetop train --data` and `look` read, safe before they are confirmed.

Each model has a folder with `train-00001.jsonl`, `train-00002.jsonl` and so on. Lines go to the last of them; one that
has grown to its limit is followed by another. Several processes may write at once: a line is appended as a whole under
a lock of the file. What is left of a write that was cut off by a power failure is cut away by the next.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

__all__ = ["Keeper"]

_LARGEST = 64 << 20
_TAIL = 1 << 16
_FILES = f"train-{'[0-9]' * 5}.jsonl"  # others of such a name are not ours


class Keeper:
    """Keeps feedback in a folder."""

    def __init__(self, folder: Path, largest: int = _LARGEST) -> None:
        self.folder, self.largest = folder, largest

    def keep(self, model: str, lines: Sequence[bytes]) -> None:
        """Append lines, each ending in a line feed; they are on the disk when this returns."""
        folder = self.folder / model
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(self._last(folder), os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            _mend(file)
            _append(file, b"".join(lines))
        finally:
            os.close(file)

    def _last(self, folder: Path) -> Path:
        """The file that lines go to."""
        last = max(folder.glob(_FILES), default=None)
        if last is None:
            return folder / "train-00001.jsonl"
        if last.stat().st_size < self.largest:
            return last
        return folder / f"train-{int(last.stem.removeprefix('train-')) + 1:05}.jsonl"


def _append(file: int, content: bytes) -> None:
    """All of it or nothing: a disk that is full must not leave half a line."""
    before = os.fstat(file).st_size
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(file, view) :]
        os.fsync(file)
    except OSError:
        os.ftruncate(file, before)
        raise


def _mend(file: int) -> None:
    """Cut away a line without end, which nobody was told had been kept."""
    size = os.fstat(file).st_size
    end = size
    while end:
        start = max(0, end - _TAIL)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end < size:
        os.ftruncate(file, end)

"""Numbers that several processes count in, each in a row of its own, and that any of them can add up.

The rows are a file that all of them map, so that counting is an addition in memory. Who takes the place of a process
that was killed goes on in its row: nothing that was counted is lost, and totals never fall.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Hashable, Sequence
from pathlib import Path

__all__ = ["Counts", "make_table"]


def make_table(workers: int, columns: int) -> Path:
    """A file for so many processes, all numbers 0."""
    number, name = tempfile.mkstemp(prefix="treetop-counts-")
    os.truncate(number, max(1, workers * columns) * 8)
    os.close(number)
    return Path(name)


class Counts:
    """The row of one process, and a look at all rows."""

    def __init__(self, path: Path, columns: Sequence[Hashable], worker: int) -> None:
        self.place = {column: number for number, column in enumerate(columns)}
        with path.open("r+b") as file:
            self._all = memoryview(mmap.mmap(file.fileno(), 0)).cast("d")
        self._width = len(columns)
        self._row = self._all[worker * self._width : (worker + 1) * self._width]

    def add(self, column: Hashable, amount: float = 1.0) -> None:
        """Count."""
        self._row[self.place[column]] += amount

    def set(self, column: Hashable, value: float) -> None:
        """A number that is not counted but is as it is, as the length of a queue."""
        self._row[self.place[column]] = value

    def each(self, column: Hashable) -> list[float]:
        """The numbers of all processes."""
        return list(map(float, self._all[self.place[column] :: self._width]))

    def total(self, column: Hashable) -> float:
        """All processes together."""
        return sum(self.each(column))

"""Rows that come and go in chunks, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop.errors import DataError
from treetop.runtime import available_memory
from treetop.sparse import from_parts
from treetop.spool import Spool
from treetop.types import CSR, Floats, Ids

__all__ = ["Counts", "RowBuffer", "Rows", "chunks", "row_slices", "scale_rows", "too_large"]

_CHUNK_CHARACTERS = 1 << 23
_SLICE_ENTRIES = 1 << 20
_SMALL = 1 << 26  # Bytes: worth no question how much memory there is.
_SHARE = 8  # of the memory that can be used, which one array may take

Counts: TypeAlias = tuple[NDArray[np.int64], Ids, Ids]
"""How often terms occur in texts: where each row starts, the columns of its entries, counts."""

Rows: TypeAlias = tuple[NDArray[np.int64], Ids, Floats]
"""Where each row starts, the columns of its entries (sorted), their values."""


def chunks(texts: Iterable[str], characters: int = _CHUNK_CHARACTERS) -> Iterator[list[str]]:
    """The texts in lists of at least so many characters; the last may be shorter. Refuses what is not a text."""
    if isinstance(texts, str | bytes):
        raise DataError(f"a single {type(texts).__name__} is not a collection of texts; give a list: [text]")
    chunk: list[str] = []
    size = 0
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(f"text {place} (counted from 0) is {text!r:.60}, a {type(text).__name__}; give a str")
        chunk.append(text)
        size += len(text) + 1
        if size >= characters:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def row_slices(parts: list[Counts], entries: int = _SLICE_ENTRIES) -> Iterator[list[Counts]]:
    """Blocks that stand side by side, some rows of all of them at a time: about so many entries, at least one row."""
    if sum(len(ids) for _, ids, _ in parts) <= entries:  # a single text, for instance
        yield parts
        return
    starts = np.sum([start for start, _, _ in parts], axis=0)
    first, rows = 0, len(starts) - 1
    while first < rows:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + entries, "right")) - 1)
        yield [_slice(part, first, last) for part in parts]
        first = last


def _slice(part: Counts, first: int, last: int) -> Counts:
    start, ids, counts = part
    from_, to = start[first], start[last]
    return start[first : last + 1] - from_, ids[from_:to], counts[from_:to]


def scale_rows(values: NDArray[np.float64], start: NDArray[np.integer[Any]], norm: Literal["l1", "l2"]) -> None:
    """Scale the values of each row, in place, so that its length is one. Row r begins at start[r]."""
    if not len(values):
        return
    parts = values * values if norm == "l2" else np.abs(values)
    if len(start) == 2:  # a single text: its length is that of all
        values *= 1 / _length(np.add.reduceat(parts, start[:1]), norm)
        return
    sizes = np.diff(start)
    full = np.flatnonzero(sizes)
    values *= np.repeat(1 / _length(np.add.reduceat(parts, start[full]), norm), sizes[full])


def _length(sums: NDArray[np.float64], norm: Literal["l1", "l2"]) -> NDArray[np.float64]:
    return np.sqrt(sums) if norm == "l2" else sums


class RowBuffer:
    """Sparse rows appended chunk by chunk, without ever holding two copies of all of them.

    What comes first stays as it is until more comes: mostly nothing does, and a single text is quickly done.
    An array that takes too much of the memory goes to a file and is mapped.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._first: Rows | None = None
        self._grown: tuple[_Growing, _Growing, _Growing] | None = None

    def append(self, rows: Rows) -> None:
        """Add rows at the end."""
        if self._grown is None:
            if self._first is None:
                self._first = rows
                return
            self._grown = _Growing(np.dtype(np.int64)), _Growing(np.dtype(np.int32)), _Growing(np.dtype(np.float32))
            self._grown[0].append(np.zeros(1, np.int64))
            first, self._first = self._first, None
            self.append(first)
        starts, ids, values = self._grown
        starts.append(ids.size + rows[0][1:])
        ids.append(rows[1])
        values.append(rows[2])

    def finish(self) -> CSR:
        """All rows as one matrix."""
        if self._grown is not None:
            starts, ids, values = (part.finish() for part in self._grown)
        else:
            starts, ids, values = self._first or (np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
        return from_parts(starts, ids, values, columns=self._columns)


def too_large(size: int) -> bool:
    """Whether so many bytes of one array of features are more than a share of the memory that is left."""
    return size > _SMALL and size > available_memory() // _SHARE


class _Growing:
    """An array that grows in place: the system moves its pages instead of copying them. A large one is in a file."""

    def __init__(self, kind: np.dtype[Any]) -> None:
        self._array = np.empty(0, kind)
        self._file: Spool | None = None
        self.size = 0

    def append(self, values: NDArray[Any]) -> None:
        end = self.size + len(values)
        if self._file is None and too_large(end * self._array.itemsize):
            self._file = Spool(None, self._array.dtype)
            self._file.append(self._array[: self.size])
            self._array = np.empty(0, self._array.dtype)
        if self._file is not None:
            self._file.append(values)
        else:
            if end > len(self._array):
                self._array.resize(max(end, len(self._array) * 3 // 2), refcheck=False)
            self._array[self.size : end] = values
        self.size = end

    def finish(self) -> NDArray[Any]:
        if self._file is not None:
            return self._file.mapped()
        self._array.resize(self.size, refcheck=False)
        return self._array

"""What an Arrow file promises, compared with what it holds, before it is read.

The reader makes room for whatever a record batch says of its buffers. Messages are tables of FlatBuffers in Arrow's
format for files and streams, https://arrow.apache.org/docs/format/Columnar.html.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treetop.data.limits import allowed_values, check_expansion
from treetop.errors import DataError

__all__ = ["check_batches", "is_file"]

_MAGIC = b"ARROW1"
_TAIL = 4 + len(_MAGIC)
_BATCH, _DICTIONARY = 3, 2
_BLOCK = 24
_DICTIONARIES, _RECORDS = 2, 3
"""Fields of the footer: where messages are."""


def is_file(path: Path) -> bool:
    """Arrow's file format begins with a magic word; without it, it is Arrow's stream format."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def check_batches(path: Path) -> None:
    """Refuse a file whose batches cannot be what their headers say."""
    if not path.stat().st_size:
        return
    content = np.memmap(path, np.uint8, "r")
    unpacked = 0
    for start in _listed(content) if is_file(path) else _streamed(content):
        message, body = _message(content, start)
        unpacked += _check_message(message, body)
        check_expansion(len(content), unpacked, path)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of FlatBuffers at a place; whatever lies outside the bytes is a struct.error."""

    content: memoryview
    place: int

    def field(self, number: int) -> int:
        """Where a field is; 0 if it is absent."""
        fields = self.place - self._number("<i", self.place)
        inside = 4 + 2 * number < self._number("<H", fields)
        offset = self._number("<H", fields + 4 + 2 * number) if inside else 0
        return self.place + offset if offset else 0

    def number(self, number: int, form: str) -> int:
        place = self.field(number)
        return self._number(form, place) if place else 0

    def table(self, number: int) -> _Table | None:
        place = self.field(number)
        return _Table(self.content, place + self._number("<I", place)) if place else None

    def vector(self, number: int, width: int) -> NDArray[np.int64]:
        """The numbers of 64 bits in a vector of structs, a row for each."""
        place = self.field(number)
        if not place:
            return np.zeros((0, width), np.int64)
        place += self._number("<I", place)
        count = self._number("<I", place)
        if place + 4 + count * 8 * width > len(self.content):
            raise struct.error("a vector reaches beyond its message")
        return np.frombuffer(self.content, "<i8", count * width, place + 4).reshape(count, width)

    def _number(self, form: str, place: int) -> int:
        if place < 0:
            raise struct.error("a place before the bytes")
        return int(struct.unpack_from(form, self.content, place)[0])


def _root(content: memoryview) -> _Table:
    return _Table(content, int(struct.unpack_from("<I", content)[0]))


def _listed(content: NDArray[np.uint8]) -> Iterator[int]:
    """Where the footer of a file says that messages are."""
    size = len(content)
    length = int.from_bytes(content[-_TAIL:-6].tobytes(), "little")
    _check(0 < length <= size - _TAIL, "its end is missing")
    footer = _root(content[size - _TAIL - length : size - _TAIL].data)
    for kind in (_DICTIONARIES, _RECORDS):
        for start, packed, body in footer.vector(kind, _BLOCK // 8).tolist():
            length = packed & 0xFFFFFFFF  # a number of 32 bits and four bytes of nothing
            _check(0 <= start < size and 0 <= body <= size - start - length, "a batch beyond its end")
            yield start


def _streamed(content: NDArray[np.uint8]) -> Iterator[int]:
    """Where messages begin that follow one another."""
    start = 0
    while start + 8 <= len(content) and _length(content, start)[1]:
        yield start
        _, body = _message(content, start)
        begin, length = _length(content, start)
        start = begin + length + len(body)


def _length(content: NDArray[np.uint8], start: int) -> tuple[int, int]:
    """Where a message begins, behind the mark that newer writers put before its length, and how long it is."""
    first, second = np.frombuffer(content[start : start + 8].tobytes(), "<i4").tolist()
    return (start + 8, second) if first == -1 else (start + 4, first)


def _message(content: NDArray[np.uint8], start: int) -> tuple[_Table, NDArray[np.uint8]]:
    """A message, and the bytes it speaks of."""
    _check(start + 8 <= len(content), "a batch beyond its end")
    begin, length = _length(content, start)
    _check(0 < length <= len(content) - begin, "a message beyond its end")
    message = _root(content[begin : begin + length].data)
    body = message.number(3, "<q")
    _check(0 <= body <= len(content) - begin - length, "a batch beyond its end")
    return message, content[begin + length : begin + length + body]


def _check_message(message: _Table, body: NDArray[np.uint8]) -> int:
    """What a message unpacks to, in bytes."""
    kind, batch = message.number(1, "<B"), message.table(2)
    if kind == _DICTIONARY and batch is not None:
        batch = batch.table(1)
    if kind not in (_DICTIONARY, _BATCH) or batch is None:
        return 0
    nodes, buffers = batch.vector(1, 2), batch.vector(2, 2)
    most = allowed_values(len(body))
    rows = batch.number(0, "<q")
    _check(0 <= rows <= most and bool(((nodes >= 0) & (nodes <= most)).all()), f"{rows:,} rows in {len(body):,} bytes")
    starts, sizes = buffers[:, 0], buffers[:, 1]
    inside = (starts >= 0) & (sizes >= 0) & (starts <= len(body) - sizes)
    _check(bool(inside.all()), "a column beyond its batch")
    parts = batch.vector(4, 1)
    _check(bool(((parts >= 0) & (parts <= len(buffers))).all()), "more parts than there are")
    return 0 if batch.table(3) is None else _unpacked(body, starts, sizes)


def _unpacked(body: NDArray[np.uint8], starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> int:
    """What compressed buffers say that they become: each begins with that, or with -1 if it is not compressed."""
    heads = [int.from_bytes(body[start : start + 8].tobytes(), "little", signed=True) for start in starts[sizes >= 8]]
    _check(min(heads, default=0) >= -1, "a column of less than nothing")
    return sum(heads)


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise DataError(f"not a readable arrow file ({problem}); write it again")

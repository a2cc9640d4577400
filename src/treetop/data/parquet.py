"""What a parquet file promises, compared with what it holds, before it is read.

The reader believes the page headers: a count below zero, or beyond all measure, ends the process. Headers are structs
of Thrift's compact protocol, https://parquet.apache.org/docs/file-format.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TypeAlias

from treetop.data.limits import allowed_values, check_expansion
from treetop.errors import DataError

__all__ = ["check_pages"]

Struct: TypeAlias = dict[int, Any]
_MAGIC = b"PAR1"
_TAIL = 8
_MOST_FOOTER = 1 << 28
_HEADER = 4096
"""Bytes in which the header of a page mostly ends; statistics can make it longer."""
_LONGEST_HEADER = 1 << 24
_ROW_GROUPS, _COLUMNS, _META = 4, 1, 3
_VALUES, _PACKED, _DATA, _DICTIONARY = 5, 7, 9, 11
"""Fields of a column's metadata."""
_PAGE_UNPACKED, _PAGE_PACKED = 2, 3
_PAGE_KINDS = (5, 7, 8)
"""Fields of a page's header: what is particular to data, to dictionaries, and to data of the second version."""


def check_pages(path: Path) -> None:
    """Refuse a file whose pages cannot be what their headers say."""
    with path.open("rb") as file:
        size = path.stat().st_size
        for group in _footer(file, size).get(_ROW_GROUPS, ()):
            for column in group.get(_COLUMNS, ()):
                if meta := column.get(_META):
                    _check_column(file, meta, size, path)


def _footer(file: BinaryIO, size: int) -> Struct:
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or not 0 < length <= min(size - _TAIL, _MOST_FOOTER):
        raise DataError("not a readable parquet file (its end is missing); write it again")
    file.seek(size - _TAIL - length)
    return _decoded(file.read(length))[0]


def _check_column(file: BinaryIO, meta: Struct, size: int, path: Path) -> None:
    values, packed = meta.get(_VALUES, 0), meta.get(_PACKED, 0)
    start = min(place for place in (meta.get(_DATA, 0), meta.get(_DICTIONARY) or size) if place >= 0)
    _check(0 <= packed <= size - start, "a column reaches beyond the file")
    _check(0 <= values <= allowed_values(packed), f"{values:,} values in {packed:,} bytes")
    unpacked = 0
    for header in _pages(file, start, start + packed):
        full = header.get(_PAGE_UNPACKED, -1)
        _check(full >= 0, f"a page of {full:,} bytes")
        unpacked += full
        check_expansion(packed, unpacked, path)
        for kind in _PAGE_KINDS:
            _check_counts(header.get(kind, {}), kind, values, full)


def _check_counts(page: Struct, kind: int, values: int, unpacked: int) -> None:
    """Numbers of values and nulls, and lengths of levels, of one page."""
    count = page.get(1, 0)
    most = 8 * unpacked if kind == _PAGE_KINDS[1] else values  # a dictionary holds each value, in a bit at least
    _check(0 <= count <= most, f"a page of {count:,} values among {most:,}")
    if kind == _PAGE_KINDS[2]:
        _check(0 <= page.get(2, 0) <= count, "a page with more nulls than values")
        levels = page.get(5, 0), page.get(6, 0)
        _check(min(levels) >= 0 and sum(levels) <= unpacked, "levels that are longer than their page")


def _pages(file: BinaryIO, start: int, end: int) -> Iterator[Struct]:
    """The headers of the pages in a stretch of the file."""
    while start < end:
        header, length = _header(file, start, end)
        packed = header.get(_PAGE_PACKED, -1)
        _check(0 <= packed <= end - start - length, "a page reaches beyond its column")
        yield header
        start += length + packed


def _header(file: BinaryIO, start: int, end: int) -> tuple[Struct, int]:
    size = _HEADER
    while True:
        file.seek(start)
        try:
            return _decoded(file.read(min(size, end - start)))
        except IndexError:
            if size >= min(end - start, _LONGEST_HEADER):
                raise
            size *= 16


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise DataError(f"not a readable parquet file ({problem}); write it again")


def _decoded(content: bytes) -> tuple[Struct, int]:
    """The struct that bytes begin with, by field numbers, and where it ends; an IndexError where they end first."""
    reader = _Compact(content)
    return reader.struct(), reader.place


class _Compact:
    """Thrift's compact protocol."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0

    def byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def varint(self) -> int:
        value = shift = 0
        while (byte := self.byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits")
        return value | byte << shift

    def zigzag(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def skip(self) -> bytes:
        length = self.varint()
        self.place += length
        if self.place > len(self.content):
            raise IndexError("the bytes end within a string")
        return b""

    def double(self) -> float:
        self.place += 8
        if self.place > len(self.content):
            raise IndexError("the bytes end within a number")
        return float(struct.unpack_from("<d", self.content, self.place - 8)[0])

    def items(self) -> list[Any]:
        head = self.byte()
        count, read = head >> 4, self.READERS[head & 15]
        count = self.varint() if count == 15 else count
        return [self.byte() == 1 if head & 15 in (1, 2) else read(self) for _ in range(count)]

    def pairs(self) -> list[Any]:
        count = self.varint()
        kinds = self.byte() if count else 0
        return [(self.READERS[kinds >> 4](self), self.READERS[kinds & 15](self)) for _ in range(count)]

    def struct(self) -> Struct:
        found: Struct = {}
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.zigzag()
            found[field] = self.READERS[head & 15](self)
        return found

    READERS: ClassVar[dict[int, Callable[[_Compact], Any]]] = {}


_Compact.READERS = {
    1: lambda _: True, 2: lambda _: False, 3: _Compact.byte, 4: _Compact.zigzag, 5: _Compact.zigzag,
    6: _Compact.zigzag, 7: _Compact.double, 8: _Compact.skip, 9: _Compact.items, 10: _Compact.items,
    11: _Compact.pairs, 12: _Compact.struct,
}  # fmt: skip

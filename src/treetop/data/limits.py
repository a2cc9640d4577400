"""How much is believed of a file from a stranger: every limit of the readers is here, and errors name the one met.

Memory follows what is in a file. What a header promises, a few bytes that unpack to gigabytes, or one line without end
are refused before they cost anything.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from treetop.errors import DataError

__all__ = [
    "CELL",
    "COLUMNS",
    "LINE",
    "allowance",
    "allowed_cells",
    "allowed_values",
    "check_archive",
    "check_expansion",
    "check_line",
]

LINE = 1 << 25
"""Bytes of a line, and characters of an object of a JSON list: 32 MiB."""
CELL = 1 << 23
"""Characters of a cell of a table, for each of which Python's parser takes up to eight bytes."""
COLUMNS = 1 << 26
"""Features; the largest benchmarks have a few million."""
EXPANSION = 200
"""How many bytes one packed byte may become; texts and matrices pack to a third, or a twentieth at best."""
UNPACKED = 1 << 26
"""Bytes that are unpacked without such a question: 64 MiB."""


def allowance(entries: int) -> int:
    """Rows or labels that a matrix with so many entries may promise."""
    return 1000 + 10 * entries


def allowed_cells(size: int) -> int:
    """Cells, also empty ones, that a sheet of so many bytes may promise; one that holds something takes 15 bytes."""
    return (1 << 20) + size // 4


def allowed_values(size: int) -> int:
    """Values that so many packed bytes may stand for."""
    return max(1 << 20, EXPANSION * size)


def check_line(size: int, path: Path | str, number: int) -> None:
    """Refuse a line without end."""
    if size > LINE:
        problem = f"longer than {LINE:,} bytes, the limit of a line"
        raise DataError(f"{problem}; is this a text file, with one record per line?", path=path, line=number)


def check_expansion(packed: int, unpacked: int, path: Path | str) -> None:
    """Refuse what unpacks to far more than it is."""
    if unpacked > max(UNPACKED, EXPANSION * packed):
        problem = f"{packed:,} bytes become more than {unpacked:,}, beyond the limit of {EXPANSION} times"
        raise DataError(f"{problem}; unpack it yourself if you trust it", path=path)


def check_archive(archive: zipfile.ZipFile, path: Path) -> None:
    """The same of all files in an archive, by what it says of their sizes; Python reads no more than that."""
    check_expansion(path.stat().st_size, sum(info.file_size for info in archive.infolist()), path)

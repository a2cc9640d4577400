"""The first sheet of a workbook.

The library that reads xlsx makes room for every cell up to the last one, wherever that says it is. So the places of
cells are looked at before: a few bytes can name any place.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import polars as pl

from treetop.data.limits import allowed_cells, check_archive
from treetop.data.lines import reason
from treetop.errors import DataError, MissingExtraError

__all__ = ["read_sheet"]

_IS = rb"""\s*=\s*["']"""
_ROW = re.compile(rb"[<:]row\b[^>]*?\sr" + _IS + rb"(\d+)")
_WIDE = re.compile(rb"\sr" + _IS + rb"([A-Za-z]{2,})")
_LETTERS = 26
_MOST_DIGITS, _MOST_LETTERS = 18, 6


def read_sheet(path: Path) -> pl.DataFrame:
    """The cells; every one is read as text, as numbers and dates among titles would be guessed wrong."""
    try:
        import fastexcel
    except ModuleNotFoundError:
        raise MissingExtraError("fastexcel", "excel") from None
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            check_archive(archive, path)
            for name in archive.namelist():
                check_places(archive.read(name), path)
    try:
        return pl.DataFrame(fastexcel.read_excel(path).load_sheet(0, dtypes="string"))
    except fastexcel.FastExcelError as error:
        raise DataError(f"not a readable Excel file ({reason(error)}); write it again", path=path) from None


def check_places(sheet: bytes, path: Path) -> None:
    """Refuse a part of a workbook that has far fewer bytes than room for cells."""
    last = int(max(_ROW.findall(sheet), default=b"1", key=_size)[:_MOST_DIGITS])
    wide = max((_column(letters) for letters in set(_WIDE.findall(sheet))), default=_LETTERS)
    beyond = re.search(rb"\sr" + _IS + rb"[A-Za-z]+\d{%d}" % (len(str(last)) + 1), sheet)
    if beyond or last * wide > allowed_cells(len(sheet)):
        where = beyond.group().decode("ascii", "replace")[-40:] if beyond else f"row {last:,} of {wide:,} columns"
        problem = f"a sheet of {len(sheet):,} bytes names a cell far away ({where})"
        raise DataError(f"{problem}; save it again without stray cells, or as csv", path=path)


def _size(number: bytes) -> tuple[int, bytes]:
    """What orders numbers in digits as numbers, however many digits they have."""
    return len(number), number


def _column(letters: bytes) -> int:
    """The number of a column, AA being 27; names beyond all sheets are not worth counting."""
    number = 0
    for letter in letters[:_MOST_LETTERS].upper():
        number = number * _LETTERS + letter - ord("A") + 1
    return number

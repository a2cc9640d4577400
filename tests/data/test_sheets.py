"""Workbooks that name cells far away: room was made for every cell up to there."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from sheets import written_sheet
from treetop.data import read
from treetop.errors import DataError

ROWS = [["text", "labels"], ["a b", "x"], ["c d", "y;z"]]
SHEET = "xl/worksheets/sheet1.xml"


def changed(path: Path, old: str, new: str) -> Path:
    with zipfile.ZipFile(written_sheet(path, ROWS)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    assert old.encode() in parts[SHEET]
    parts[SHEET] = parts[SHEET].replace(old.encode(), new.encode())
    with zipfile.ZipFile(path, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<row r="3"', '<row r="1000000000"'),
        ('<row r="3"', "<row  x='1' r = '1000000000'"),
        ('<row r="3"', f'<row r="{"9" * 5000}"'),
        ('r="B3"', 'r="B1000000000"'),
        ('r="B3"', 'r="XFD3" t="s"/><c r="ZZZZZ3"'),
    ],
)
def test_cells_far_away(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(DataError, match=r"a.xlsx: a sheet of .* bytes names a cell far away"):
        read(changed(tmp_path / "a.xlsx", old, new))


def test_some_room_between_cells(tmp_path: Path) -> None:
    path = changed(tmp_path / "a.xlsx", "</sheetData>", '<row r="900"><c r="AB900"><v>1</v></c></row></sheetData>')
    assert len(read(path)) == 899

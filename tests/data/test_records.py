from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sheets import written_sheet
from treetop.data import Record, read_texts
from treetop.errors import ConfigError, DataError


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))


def test_json_lines_in_chunks(tmp_path: Path) -> None:
    path = written(tmp_path, "in.jsonl", '{"text": "a", "id": 7}\n\n{"text": "", "id": "x"}\n{"text": "c"}\n')
    assert list(read_texts(path, chunk=2)) == [[Record("a", 7), Record("", "x")], [Record("c")]]
    packed = tmp_path / "in.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_texts(str(packed))) == [[Record("a", 7), Record("", "x"), Record("c")]]


def test_plain_text_keeps_one_record_per_line(tmp_path: Path) -> None:
    path = written(tmp_path, "in.txt", "first line\n\n{not json}\nשלום 🌳\n")
    assert [record.text for record in next(read_texts(path))] == ["first line", "", "{not json}", "שלום 🌳"]


def test_tables_and_parquet_by_column(tmp_path: Path) -> None:
    table = written(tmp_path, "in.csv", 'id,body\n1,"two\nlines"\n2,x\n')
    assert list(read_texts(table, text="body")) == [[Record("two\nlines", "1"), Record("x", "2")]]
    assert list(read_texts(written(tmp_path, "in.tsv", "text\nx\n"))) == [[Record("x")]]
    pl.DataFrame({"text": ["x", None, "z"], "id": [1, 2, 3]}).write_parquet(tmp_path / "in.parquet")
    assert list(read_texts(tmp_path / "in.parquet", chunk=2)) == [[Record("x", 1), Record("", 2)], [Record("z", 3)]]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'\n{"text": "a", "id": 1}\n{"text": "b"}', [Record("a", 1), Record("b")]),
        (b"plain\r\ntext", [Record("plain"), Record("text")]),
        (b"", []),
    ],
)
def test_standard_input_by_its_first_line(
    monkeypatch: pytest.MonkeyPatch, content: bytes, expected: list[Record]
) -> None:
    standard_input(monkeypatch, content)
    assert [record for chunk in read_texts("-") for record in chunk] == expected


@pytest.mark.parametrize("name", ["in.jsonl", "in.json", "in.csv", "in.parquet", "in.arrow", "in.xlsx"])
def test_several_columns_and_nulls_in_every_format(tmp_path: Path, name: str) -> None:
    rows: list[dict[str, Any]] = [{"title": "A", "body": "b", "id": "1"}, {"title": None, "body": "c", "id": "2"}]
    path = tmp_path / name
    frame = pl.DataFrame(rows)
    if name == "in.jsonl":
        frame.write_ndjson(path)
    elif name == "in.json":
        frame.write_json(path)
    elif name == "in.csv":
        frame.write_csv(path, null_value="NaN")
    elif name == "in.parquet":
        frame.write_parquet(path)
    elif name == "in.arrow":
        frame.write_ipc(path)
    else:
        written_sheet(path, [list(frame.columns), *([*row.values()] for row in rows)])
    assert list(read_texts(path, text=("title", "body"))) == [[Record("A\nb", "1"), Record("c", "2")]]


def test_encodings_and_markup(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes("<p>it’s &amp; was</p>\n".encode("cp1252"))
    assert list(read_texts(path)) == [[Record("<p>it’s &amp; was</p>")]]
    assert list(read_texts(path, strip_html=True)) == [[Record("it’s & was")]]
    assert next(read_texts(path, encoding="latin-1"))[0].text.startswith("<p>it\x92s")


def test_a_file_without_a_suffix_is_read_like_standard_input(tmp_path: Path) -> None:
    assert list(read_texts(written(tmp_path, "in", '{"text": "a"}\n'))) == [[Record("a")]]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("in.jsonl", '{"text": "a"}\n{"txt": "b"}\n', r"in.jsonl, line 2: no field 'text'; .* did you mean 'txt'\?"),
        ("in.jsonl", '{"text": "a"}\noops\n', r"in.jsonl, line 2: not valid JSON"),
        ("in.jsonl", '{"text": 5}\n', r"in.jsonl, line 1: field 'text' is a number \(5\)"),
        ("in.csv", "body\nx\n", r"in.csv, line 1: no column 'text'; there are: body"),
        ("in.docx", "x", r"in.docx: unknown file type '.docx'; supported are jsonl, json, csv"),
    ],
)
def test_bad_input_is_named(tmp_path: Path, name: str, content: str, expected: str) -> None:
    with pytest.raises(DataError, match=expected):
        list(read_texts(written(tmp_path, name, content)))


def test_what_is_wrong_with_the_call_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="no such file; check the path; a text itself goes to standard input"):
        read_texts(tmp_path / "absent.txt")
    with pytest.raises(ConfigError, match="chunk is 0"):
        read_texts("-", chunk=0)
    with pytest.raises(ConfigError, match="there is no encoding called 'klingon'"):
        read_texts("-", encoding="klingon")
    standard_input(monkeypatch, '{"text": "Привет"}'.encode("cp1251"))
    with pytest.raises(DataError, match="standard input, line 1: byte 0xcf"):
        list(read_texts("-"))


def test_a_pipe_is_handed_on_when_it_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as stream, open(writing, "wb", buffering=0) as pipe:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream))
        chunks = read_texts("-", chunk=3)
        pipe.write(b"one\ntwo\nthr")
        assert next(chunks) == [Record("one"), Record("two")]
        pipe.write(b"ee\nfour\nfive\nsix\n")
        assert next(chunks) == [Record("three"), Record("four"), Record("five")]
        pipe.close()
        assert list(chunks) == [[Record("six")]]

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from treetop.data import read
from treetop.data.jsonarray import array_objects, begins_array
from treetop.errors import DataError

ROWS = [{"text": f"Größe {number} 🌳", "labels": ["a", str(number % 7)]} for number in range(30_000)]


def written(folder: Path, content: str | bytes, name: str = "train.json") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, ensure_ascii=False, indent=1),
        "\ufeff\n [" + ",\r\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS) + "] \n",
    ],
    ids=["one line", "indented", "a line each"],
)
def test_a_list_reads_like_lines(tmp_path: Path, content: str) -> None:
    as_lines = read(written(tmp_path, "\n".join(json.dumps(row) for row in ROWS), "lines.jsonl"))
    for path in (written(tmp_path, content), written(tmp_path, gzip.compress(content.encode()), "train.json.gz")):
        dataset = read(path)
        assert dataset.corpus.texts == as_lines.corpus.texts
        assert dataset.space == as_lines.space
        assert dataset.labels.toarray().tolist() == as_lines.labels.toarray().tolist()


def test_an_object_larger_than_a_block(tmp_path: Path) -> None:
    rows = [{"text": "x" * 3_000_000, "labels": ["a"]}, {"text": "y", "labels": ["b"]}]
    assert read(written(tmp_path, json.dumps(rows))).corpus.texts == ["x" * 3_000_000, "y"]


def test_lines_of_objects_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, '[\n{"a":\n1},\n\n{"b": 2}]')
    assert list(array_objects(path)) == [(2, {"a": 1}), (5, {"b": 2})]
    assert begins_array(path)
    assert not begins_array(written(tmp_path, '{"a": []}'))


def test_other_encodings_and_half_a_pair(tmp_path: Path) -> None:
    path = written(tmp_path, '[{"text": "it’s", "labels": ["a"]}]'.encode("cp1252"))
    assert read(path).corpus.texts == ["it’s"]
    assert read(written(tmp_path, json.dumps(ROWS[:3]).encode("utf-16"))).corpus.texts[2] == "Größe 2 🌳"
    assert read(written(tmp_path, r'[{"text": "cut \ud83c", "labels": ["a"]}]')).corpus.texts == ["cut \ufffd"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('[{"text": "x", "labels": ["a"]},\n{"text": "y" "labels": []}]', "line 2: not valid JSON"),
        ('[{"text": "x", "labels": ["a"]}\n', "line 2: not valid JSON (expected ',', found the end of the file)"),
        ('[{"text": "x", "labels": ["a"]}] []', "line 1: there is more behind the list"),
        ('[\n"x"]', "line 2: 'x' in the list is no JSON object; expected a list of objects such as"),
        ('[{"text": "x", "labels": [[]]}]', "line 1: field 'labels' holds a list"),
        ("[" * 100_000, "line 1: not valid JSON (RecursionError)"),
        ("[]", "there is no text in it"),
    ],
)
def test_what_is_no_list_of_objects(tmp_path: Path, content: str, expected: str) -> None:
    with pytest.raises(DataError) as caught:
        read(written(tmp_path, content))
    assert expected in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1

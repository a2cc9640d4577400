from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sheets import written_sheet
from treetop.data import read
from treetop.errors import DataError, MissingExtraError


def written(folder: Path, columns: dict[str, Any], name: str = "train.parquet") -> Path:
    path = folder / name
    pl.DataFrame(columns).write_parquet(path)
    return path


def test_lists_of_names(tmp_path: Path) -> None:
    path = written(tmp_path, {"text": ["x", None, "🌳"], "labels": [["b", "a", "b"], None, ["a", None]]})
    dataset = read(path)
    assert dataset.corpus.texts == ["x", "", "🌳"]
    assert dataset.space.names == ("a", "b")
    assert dataset.labels.toarray().tolist() == [[1, 1], [0, 0], [1, 0]]


@pytest.mark.parametrize("labels", [["7|8", "8"], [[7, 8], [8]]])
def test_separated_strings_and_numbers(tmp_path: Path, labels: list[Any]) -> None:
    dataset = read(written(tmp_path, {"text": ["x", "y"], "labels": labels}))
    assert dataset.space.names == ("7", "8")
    assert dataset.labels.toarray().tolist() == [[1, 1], [0, 1]]


def test_weights(tmp_path: Path) -> None:
    path = written(tmp_path, {"text": ["x"], "labels": [["a", "b"]], "w": [[0.5, 2.0]]})
    assert read(path, weights="w").labels.toarray().tolist() == [[0.5, 2]]
    bad = written(tmp_path, {"text": ["x", "y"], "labels": [["a"], ["b"]], "w": [[1.0], [-1.0]]})
    with pytest.raises(DataError, match=r"row 2: the weight of label 'b' is -1.0"):
        read(bad, weights="w")


def test_more_rows_than_a_chunk_stay_in_order(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(10_000)]
    dataset = read(written(tmp_path, {"text": texts, "labels": [[str(i % 3)] for i in range(10_000)]}))
    assert dataset.corpus.texts == texts
    assert dataset.labels.indices.tolist() == [i % 3 for i in range(10_000)]


def test_shards_are_read_as_one(tmp_path: Path) -> None:
    for shard in range(2):
        written(tmp_path, {"text": [f"{shard}"], "labels": [["a"]]}, f"train-0000{shard}-of-00002.parquet")
    assert read(tmp_path).corpus.texts == ["0", "1"]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"text": ["x"], "label": [["a"]]}, "no column 'labels'; there are: text, label; did you mean 'label'?"),
        ({"text": [1], "labels": [["a"]]}, "column 'text' holds Int64, expected texts"),
        ({"text": ["x"], "labels": [[0.5]]}, r"column 'labels' holds List\(Float64\), expected lists of label names"),
        ({"text": ["x"], "labels": [1.5]}, "column 'labels' holds Float64"),
        ({"text": ["x"], "labels": [[]]}, "none of the 1 texts has a label"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, columns: dict[str, Any], expected: str) -> None:
    with pytest.raises(DataError, match=expected):
        read(written(tmp_path, columns))


def test_a_foreign_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "train.parquet"
    path.write_text("not parquet")
    with pytest.raises(DataError, match=r"train.parquet: not a readable parquet file"):
        read(path)


@pytest.mark.parametrize("name", ["train.arrow", "train.feather", "train.arrows.ipc"])
def test_arrow_files_and_streams(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({"text": ["x", None] * 3000, "labels": [["b", "a"], None] * 3000})
    stream = name.endswith("arrows.ipc")
    (frame.write_ipc_stream if stream else frame.write_ipc)(tmp_path / name)
    dataset = read(tmp_path / name)
    assert dataset.corpus.texts == ["x", ""] * 3000
    assert dataset.space.names == ("a", "b")
    assert dataset.unlabelled == dataset.findings.null_labels == dataset.findings.null_texts == 3000


def test_excel(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["title", "year", "tags"], ["A film", 1984, "x, y"], [1984, None, 7], ["B", 3.5, None]]
    path = written_sheet(tmp_path / "export.xlsx", rows)
    dataset = read(path, text=("title", "year"), labels="tags")
    assert dataset.corpus.texts == ["A film\n1984", "1984", "B\n3.5"]
    assert dataset.space.names == ("7", "x", "y")
    assert dataset.findings.null_texts == dataset.findings.null_labels == 1
    with pytest.raises(DataError, match=r"export.xlsx: no column 'text'; there are: title, year, tags"):
        read(path)


def test_excel_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written_sheet(tmp_path / "export.xlsx", [["text", "labels"], ["x", "a"]])
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'treetop-xmc\[excel\]'"):
        read(path)


@pytest.mark.parametrize("name", ["train.arrow", "train.xlsx"])
def test_damaged_files_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"ARROW1 and then nothing")
    with pytest.raises(DataError, match=rf"{name}: not a readable (arrow|Excel) file"):
        read(tmp_path / name)


def test_texts_in_several_columns_and_whole_numbers_with_gaps(tmp_path: Path) -> None:
    path = written(tmp_path, {"a": ["x", None], "b": ["y", "z"], "labels": [7.0, None]})
    dataset = read(path, text=("a", "b"))
    assert dataset.corpus.texts == ["x\ny", "z"]
    assert dataset.space.names == ("7",)

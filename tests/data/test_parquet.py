from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from treetop.data import read
from treetop.errors import DataError


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

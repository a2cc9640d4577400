from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from treetop.data import Dataset, read
from treetop.errors import DataError

hub = pytest.importorskip("datasets")

TEXTS = ["stir the soup", "", "score a goal", "serve an ace"] * 1500
NAMES = [["soup", "cooking"], [], ["sport"], ["sport", "tennis"]] * 1500
EXPECTED = Dataset.build(TEXTS, NAMES)


def same(one: Dataset, other: Dataset) -> bool:
    return (
        list(one.corpus.texts) == list(other.corpus.texts)
        and one.space == other.space
        and one.labels.indptr.tobytes() == other.labels.indptr.tobytes()
        and one.labels.indices.tobytes() == other.labels.indices.tobytes()
        and one.labels.data.tobytes() == other.labels.data.tobytes()
    )


def tables() -> dict[str, Any]:
    columns: dict[str, Any] = {"id": list(range(len(TEXTS))), "text": TEXTS, "labels": NAMES}
    return {
        "columns": columns,
        "records": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "pandas": pd.DataFrame(columns),
        "pandas with arrays": pd.DataFrame(columns | {"labels": [np.array(row, object) for row in NAMES]}),
        "polars": pl.DataFrame(columns),
        "lazy": pl.DataFrame(columns).lazy(),
        "pyarrow": pa.table(columns),
        "hugging face": hub.Dataset.from_dict(columns),
        "splits": hub.DatasetDict({"validation": hub.Dataset.from_dict({}), "train": hub.Dataset.from_dict(columns)}),
    }


@pytest.mark.parametrize("kind", list(tables()))
def test_every_table_gives_the_same_dataset_as_lists_do(kind: str) -> None:
    assert same(read(tables()[kind]), EXPECTED)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "hugging face", "records"])
def test_a_table_reads_like_the_file_it_is_written_to(kind: str, tmp_path: Path) -> None:
    rows = [("A", "b", "x, y"), ("C", None, None), (None, "d", "y"), ("E", "f", "NaN"), ("A", "b", "x, y")]
    frame = pd.DataFrame(rows, columns=["title", "body", "tags"])
    frame.to_csv(tmp_path / "train.csv", index=False)
    table = {
        "pandas": frame,
        "polars": pl.DataFrame(rows, schema=["title", "body", "tags"], orient="row"),
        "pyarrow": pa.Table.from_pandas(frame),
        "hugging face": hub.Dataset.from_pandas(frame),
        "records": frame.to_dict("records"),
    }[kind]
    wanted: dict[str, Any] = {"text": ("title", "body"), "labels": "tags"}
    dataset = read(table, **wanted)
    assert same(dataset, read(tmp_path / "train.csv", **wanted))
    assert dataset.corpus.texts == ["A\nb", "C", "d", "E\nf", "A\nb"]
    findings = dataset.findings
    assert findings.split == "labels split at ','"
    assert (findings.null_texts, findings.null_labels, findings.duplicates, findings.unlabelled) == (2, 2, 1, 2)


def test_numbers_with_gaps_are_labels() -> None:
    frame = pd.DataFrame({"text": ["x", "y", "z"], "labels": [3.0, np.nan, 12.0]})
    assert read(frame).space.names == ("12", "3")
    assert read(pl.from_pandas(frame)).space.names == ("12", "3")


def test_class_numbers_of_hugging_face_become_names() -> None:
    label = hub.ClassLabel(names=["ham", "spam"])
    single = hub.Dataset.from_dict({"text": ["x", "y"], "labels": [1, 0]}).cast_column("labels", label)
    assert same(read(single), Dataset.build(["x", "y"], [["spam"], ["ham"]]))
    features = hub.Features({"text": hub.Value("string"), "labels": hub.Sequence(label)})
    several = hub.Dataset.from_dict({"text": ["x", "y"], "labels": [[1, 0], []]}, features=features)
    assert same(read(several.select([1, 0])), Dataset.build(["y", "x"], [[], ["spam", "ham"]]))


def test_splits_by_any_of_their_names() -> None:
    parts = {"train": pl.DataFrame({"text": ["a"], "labels": ["x"]}), "val": [{"text": "b", "labels": ["y"]}]}
    assert read(parts, split="validation").corpus.texts == ["b"]
    with pytest.raises(DataError, match="no split 'test' among these tables; there are: train, val"):
        read(parts, split="test")


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (7, "cannot read the builtins int; give a file, a DataFrame"),
        (b"bytes", "cannot read the builtins bytes"),
        (["one", "two"], "row 1 is 'one', expected a dictionary of fields"),
        (pd.DataFrame({"txt": ["x"]}), "no column 'text'; there are: txt; did you mean 'txt'"),
        (pl.DataFrame({"txt": ["x"]}), "no column 'text'; there are: txt; did you mean 'txt'"),
        (hub.Dataset.from_dict({"txt": ["x"]}), "no column 'text'; there are: txt; did you mean 'txt'"),
        ({"text": ["x"], "labels": []}, "columns of 0 and 1 rows; all need one row per text"),
        (pd.DataFrame({"text": ["x", 5], "labels": [["a"], ["b"]]}), r"row 2: field 'text' is a number \(5\)"),
        (pl.DataFrame({"text": ["x"], "labels": [[]]}), "none of the 1 texts has a label"),
        ([], "there is no text in it"),
    ],
)
def test_what_cannot_be_read_is_named(table: Any, expected: str) -> None:
    with pytest.raises(DataError, match=expected) as caught:
        read(table)
    assert len(str(caught.value).splitlines()) == 1

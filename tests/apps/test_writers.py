from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import load_npz

from treetop.apps.predicted import READERS, read_predictions
from treetop.apps.writers import COLUMNS, WRITERS, check_ending, id_word, writer
from treetop.errors import ConfigError
from treetop.predictions import Predictions

NAMES = ("with a blank", "per%cent", 'quo"te, comma', "ünï\tcode")
IDS: list[Any] = ["a 1", 7, None]
FOUND = Predictions(
    np.array([[2, 0], [3, 1], [-1, -1]], np.int32), np.array([[0.75, -0.5], [0.25, 0], [0, 0]], np.float32), NAMES
)


def write(path: Path, ids: Sequence[Any] = IDS) -> Path:
    """The predictions in two parts, as a stream gives them."""
    with writer(path) as put:
        put(ids[:1], FOUND[:1])
        put(ids[1:], FOUND[1:])
    return path


@pytest.mark.parametrize("ending", WRITERS)
def test_labels_that_no_training_text_had_are_marked(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"found{ending}"
    found = replace(FOUND, unseen=np.array([True, False, False, False]))
    with writer(path, unseen=True) as put:
        put(IDS, found)
    rows = {id_word(given): row for row, given in enumerate(IDS) if given is not None}
    assert read_predictions(path, NAMES, rows, 3) == FOUND
    if ending == ".jsonl":
        assert [json.loads(line)["unseen"] for line in path.read_text("utf-8").splitlines()] == [[NAMES[0]], [], []]
    elif ending in (".csv", ".tsv", ".parquet"):
        frame = pl.read_parquet(path) if ending == ".parquet" else pl.read_csv(path, separator=",\t"[ending == ".tsv"])
        assert frame["unseen"].cast(pl.Int64).to_list() == [0, 1, 0, 0]


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_what_labels_mean_is_written_beside_them(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"found{ending}"
    with writer(path, unseen=True, texts={name: f"text of {name}" for name in NAMES}) as put:
        put(IDS, replace(FOUND, unseen=np.zeros(4, np.bool_)))
    expected = [f"text of {NAMES[label]}" for label in (2, 0, 3, 1)]
    if ending == ".jsonl":
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert [text for line in lines for text in line["label_texts"]] == expected
    else:
        frame = pl.read_parquet(path) if ending == ".parquet" else pl.read_csv(path)
        assert frame.columns == [*COLUMNS, "unseen", "label_text"]
        assert frame["label_text"].to_list() == expected


@pytest.mark.parametrize("ending", WRITERS)
def test_what_is_written_can_be_read(ending: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"found{ending}")
    rows = {id_word(given): row for row, given in enumerate(IDS) if given is not None}
    assert read_predictions(path, NAMES, rows, 3) == FOUND
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_every_form_is_written_and_read() -> None:
    assert WRITERS.keys() == READERS.keys()


def test_tables_have_a_row_per_suggestion(tmp_path: Path) -> None:
    for ending, delimiter in ((".csv", ","), (".tsv", "\t")):
        with write(tmp_path / f"x{ending}").open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file, delimiter=delimiter)
        assert tuple(header) == COLUMNS
        assert rows[0] == ["0", "a 1", "1", 'quo"te, comma', "0.75"]
        assert rows[2] == ["1", "7", "1", "ünï\tcode", "0.25"]
        assert len(rows) == 4
    frame = pl.read_parquet(write(tmp_path / "x.parquet"))
    assert frame.rows()[2] == (1, "7", 1, "ünï\tcode", 0.25)
    assert tuple(frame.columns) == COLUMNS


def test_lines_have_a_text_each(tmp_path: Path) -> None:
    lines = write(tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "a 1", "labels": ['quo"te, comma', "with a blank"], "scores": [0.75, -0.5]},
        {"id": 7, "labels": ["ünï\tcode", "per%cent"], "scores": [0.25, 0.0]},
        {"labels": [], "scores": []},
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (float("nan"), "NaN"), ([1.0, float("inf")], "[1.0, Infinity]"), (date(2020, 1, 2), "2020-01-02"),
        (b"\xff", "\ufffd"), (Decimal("1.5"), "1.5"), ({"a": 1}, {"a": 1}), (2.5, 2.5),
    ],
)  # fmt: skip
def test_an_id_that_json_cannot_hold_is_written_in_words(given: Any, expected: Any, tmp_path: Path) -> None:
    lines = write(tmp_path / "found.jsonl", [given, 1, 2]).read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0], parse_constant=pytest.fail)["id"] == expected


def test_a_trec_run_has_six_words_a_line(tmp_path: Path) -> None:
    lines = write(tmp_path / "x.trec", [None, "b", None]).read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ['0 Q0 quo"te,%20comma 1 0.75 treetop', "0 Q0 with%20a%20blank 2 -0.5 treetop"]
    assert [len(line.split()) for line in lines] == [6] * 4


def test_a_matrix_is_one_of_scipys(tmp_path: Path) -> None:
    matrix = load_npz(write(tmp_path / "x.npz"))
    np.testing.assert_array_equal(matrix.toarray(), [[-0.5, 0, 0.75, 0], [0, 0, 0, 0.25], [0, 0, 0, 0]])
    assert matrix.nnz == 4  # a score of zero is a score


@pytest.mark.parametrize("ending", WRITERS)
def test_no_texts_at_all(ending: str, tmp_path: Path) -> None:
    with writer(tmp_path / f"none{ending}"):
        pass
    assert len(read_predictions(tmp_path / f"none{ending}", NAMES, {}, 0)) == 0


@pytest.mark.parametrize("ending", WRITERS)
def test_an_error_leaves_no_file(ending: str, tmp_path: Path) -> None:
    def stop_halfway() -> None:
        with writer(tmp_path / f"x{ending}") as put:
            put(IDS, FOUND)
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        stop_halfway()
    assert list(tmp_path.iterdir()) == []


def test_a_device_takes_lines() -> None:
    assert check_ending(Path("/dev/null")) == ".jsonl"
    write(Path("/dev/null"))
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("name", ["x.xlsx", "x", "x.jsonl.gz"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"choose one of \.jsonl, \.csv, \.tsv, \.parquet, \.trec, \.npz"):
        check_ending(Path(name))

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from listening import Kept
from treetop.data import read, splits
from treetop.errors import DataError
from treetop.runtime import Runtime

LINE = '{"text": "x", "labels": ["a"]}\n'


@pytest.mark.parametrize(
    ("file", "name", "split"),
    [
        ("train.jsonl", "train", "train"),
        ("trn.json", "train", "training"),
        ("valid.jsonl", "dev", "validation"),
        ("val.ndjson", "dev", "dev"),
        ("tst.jsonl", "test", "test"),
        ("Test.jsonl", "test", "TEST"),
    ],
)
def test_a_split_by_any_of_its_names(tmp_path: Path, file: str, name: str, split: str) -> None:
    (tmp_path / file).write_text(LINE)
    (tmp_path / "notes.md").write_text("not data")
    assert splits(tmp_path) == (name,)
    assert len(read(tmp_path, split=split)) == 1


def test_a_missing_split_names_those_that_exist(tmp_path: Path) -> None:
    for name in ("train.jsonl", "test.jsonl"):
        (tmp_path / name).write_text(LINE)
    with pytest.raises(DataError, match="no split 'dev' in this folder; there are: train, test"):
        read(tmp_path, split="dev")


def test_folders_and_paths_without_data(tmp_path: Path) -> None:
    assert splits(tmp_path) == ()
    with pytest.raises(DataError, match=r"no split 'train' in this folder; there are: none; put train\.csv, .* there"):
        read(tmp_path)
    (tmp_path / "export.csv").write_text("text,labels\nx,a\n")
    with pytest.raises(DataError, match=r"there are: none; name one of its files, such as export\.csv, or"):
        read(tmp_path)
    with pytest.raises(DataError, match="nowhere: no such file or folder"):
        read(tmp_path / "nowhere")
    with pytest.raises(DataError, match="nowhere: no such file or folder"):
        splits(tmp_path / "nowhere")


def test_an_unknown_file_type_lists_the_known(tmp_path: Path) -> None:
    path = tmp_path / "data.docx"
    path.write_text(LINE)
    with pytest.raises(DataError, match=r"unknown file type '.docx'; supported are .jsonl, .json"):
        read(path)
    with pytest.raises(DataError, match=r"unknown file type '.docx'"):
        splits(path)


def test_a_file_is_read_whatever_the_split(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(LINE)
    assert splits(path) == ("train",)
    assert len(read(str(path), split="test")) == 1


def test_the_first_form_of_the_table_wins(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(LINE)
    (tmp_path / "train.csv").write_text("text,labels\nother,b\n")
    (tmp_path / "train.txt").write_text("1 1 1\n0 0:1\n")
    assert read(tmp_path).corpus.texts == ["x"]


def test_progress_reaches_the_size_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(LINE * 1000)
    told = Kept()
    read(tmp_path, runtime=Runtime(progress=told))
    assert [(leg.title, leg.steps) for leg in told.ended] == [("reading train.jsonl", 1000 * len(LINE))]


def test_raw_texts_of_the_xmc_repository_by_their_field_names(tmp_path: Path) -> None:
    record = '{"uid": "B0", "title": "Pen", "content": "", "target_ind": [12, 3], "target_rel": [1.0, 0.5]}'
    (tmp_path / "trn.json.gz").write_bytes(gzip.compress(record.encode()))
    dataset = read(tmp_path, text="title", labels="target_ind", weights="target_rel")
    assert (dataset.corpus.texts, dataset.space.names) == (["Pen"], ("12", "3"))
    assert dataset.labels.toarray().tolist() == [[1, 0.5]]


def test_texts_that_are_all_empty(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('text,body,labels\n"",x,a\n" ",y,b\n')
    with pytest.raises(DataError, match=r"t\.csv: all of the 2 texts are empty; check which field or column has them"):
        read(tmp_path / "t.csv")
    assert len(read(tmp_path / "t.csv", text="body")) == 2

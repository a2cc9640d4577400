from __future__ import annotations

from pathlib import Path

import pytest

from treetop.data import LabelSpace, read
from treetop.errors import DataError


def folder_with(folder: Path, name: str, content: str) -> Path:
    (folder / "train.jsonl").write_text('{"text": "x", "labels": ["b", "a"]}')
    (folder / "test.jsonl").write_text('{"text": "x", "labels": ["c", "a"]}')
    (folder / name).write_text(content, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("labels.txt", "a\tfirst letter\nc\tthird\tletter\n\n"),
        ("labels.tsv", "c\tthird\tletter\r\na\tfirst letter\r\n"),
        ("labels.jsonl", '{"label": "a", "text": "first letter"}\n{"label": "c", "text": "third\\tletter"}'),
    ],
)
def test_texts_of_the_labels(tmp_path: Path, name: str, content: str) -> None:
    folder = folder_with(tmp_path, name, content)
    train = read(folder)
    assert train.space == LabelSpace(["a", "b"], ["first letter", "b"])
    assert read(folder, split="test", space=train.space).space.texts == ("first letter", "b", "third\tletter")
    assert read(folder / "train.jsonl").space == train.space


def test_names_without_texts_describe_nothing(tmp_path: Path) -> None:
    assert read(folder_with(tmp_path, "labels.txt", "a\nb\n")).space.texts is None


def test_a_space_without_texts_stays_so(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "labels.txt", "a\tfirst\n")
    assert read(folder, space=LabelSpace(["a"])).space == LabelSpace(["a", "b"])


def test_a_label_file_beside_an_unrelated_file_is_left_alone(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "labels.txt", "a\tfirst\n")
    (folder / "other.jsonl").write_text('{"text": "x", "labels": ["a"]}')
    assert read(folder / "other.jsonl").space.texts is None


def test_numbered_labels_that_are_described_in_part(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 1 3\n0,2 0:1\n")
    (tmp_path / "labels.txt").write_text("2\ttwo\n0\tzero\n")
    assert read(tmp_path).space == LabelSpace(["0", "1", "2"], ["zero", "1", "two"])


def test_bad_label_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"labels.jsonl, line 1: no field 'label'; there are: name"):
        read(folder_with(tmp_path, "labels.jsonl", '{"name": "a"}'))


@pytest.mark.parametrize("name", ["label_map.txt", "Yf.txt", "output-items.txt"])
def test_titles_of_a_release_are_texts_and_codes_are_names(tmp_path: Path, name: str) -> None:
    (tmp_path / "train.txt").write_text("1 1 3\n0,2 0:1\n")
    (tmp_path / name).write_bytes("soft_wheat\nthe café\nQ42\n".encode("cp1252"))
    assert read(tmp_path).space == LabelSpace(["soft_wheat", "the café", "Q42"], ["soft wheat", "the café", "Q42"])
    (tmp_path / name).write_text("B00A1\nQ42\n1001\n")
    assert read(tmp_path).space == LabelSpace(["B00A1", "Q42", "1001"])


def test_label_lines_of_a_release(tmp_path: Path) -> None:
    (tmp_path / "train_raw_texts.txt").write_text("one\ntwo\n")
    (tmp_path / "train_labels.txt").write_text("soft_wheat trade\ntrade\n")
    (tmp_path / "test_raw_texts.txt").write_text("three\n")
    (tmp_path / "test_labels.txt").write_text("trade fish_oil\n")
    train = read(tmp_path)
    assert train.space == LabelSpace(["soft_wheat", "trade"], ["soft wheat", "trade"])
    assert read(tmp_path, split="test", space=train.space).space.names == ("soft_wheat", "trade", "fish_oil")
    (tmp_path / "train_labels.txt").write_text("0 2\n2\n")
    assert read(tmp_path).space == LabelSpace(["0", "2"])
    (tmp_path / "label_map.txt").write_text("soft_wheat\ntrade\nfish_oil\n")
    assert read(tmp_path).space == LabelSpace(["0", "2"], ["soft wheat", "fish oil"])

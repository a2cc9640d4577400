from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from treetop.data import read, splits
from treetop.errors import DataError

LINES = "__label__soup __label__cooking Stir the onions\nno label  at all\n\n\tGoal __label__sport\n"


@pytest.mark.parametrize("name", ["texts.txt", "train.txt", "train.txt.gz"])
def test_labels_are_marked_words(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(LINES.encode()) if name.endswith(".gz") else LINES.encode())
    found = read(path)
    assert found.corpus.texts == ["Stir the onions", "no label at all", "Goal"]
    assert found.space.names == ("cooking", "soup", "sport")
    assert found.labels.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert found.corpus.features is None


def test_a_folder_of_them(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text(LINES)
    (tmp_path / "test.txt").write_text("__label__sport A race\n")
    assert splits(tmp_path) == ("train", "test")
    train = read(tmp_path)
    assert read(tmp_path, split="test", space=train.space).labels.toarray().tolist() == [[0, 0, 1]]


def test_texts_without_labels_are_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("Stir the onions\n")
    with pytest.raises(DataError, match=r"line 1: the first line is .* give texts with their labels as csv or jsonl"):
        read(tmp_path / "texts.txt")

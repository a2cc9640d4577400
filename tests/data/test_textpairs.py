from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse as sp

from treetop.data import LabelSpace, read, splits
from treetop.errors import DataError


def release(folder: Path, texts: str, labels: str, split: str = "train", kind: str = "raw_texts") -> Path:
    (folder / f"{split}_{kind}.txt").write_text(texts, encoding="utf-8")
    (folder / f"{split}_labels.txt").write_text(labels, encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", ["raw_texts", "texts"])
def test_labels_between_white_space(tmp_path: Path, kind: str) -> None:
    release(tmp_path, "one\n\nthree /SEP/ 3\n", "b a\n\na\n", kind=kind)
    release(tmp_path, "four\n", "z b\n", "test", kind)
    assert splits(tmp_path) == ("train", "test")
    train = read(tmp_path)
    assert train.corpus.texts == ["one", "", "three /SEP/ 3"]
    assert train.labels.toarray().tolist() == [[1, 1], [0, 0], [1, 0]]
    test = read(tmp_path, split="test", space=train.space)
    assert test.space == LabelSpace(["a", "b", "z"])
    assert test.labels.toarray().tolist() == [[0, 1, 1]]
    assert read(tmp_path / f"train_{kind}.txt").corpus.texts == train.corpus.texts
    assert read(tmp_path / "train_labels.txt").space == train.space


def test_a_given_separator(tmp_path: Path) -> None:
    release(tmp_path, "one\ntwo\n", "new york, rome\nrome\n")
    assert read(tmp_path, separator=",").space.names == ("new york", "rome")


def test_features_beside_them(tmp_path: Path) -> None:
    release(tmp_path, "one\ntwo\n", "a\nb\n")
    sp.save_npz(tmp_path / "X.trn.npz", sp.csr_matrix(np.eye(2)))
    assert read(tmp_path).corpus.features is not None
    sp.save_npz(tmp_path / "X.trn.npz", sp.csr_matrix(np.eye(3)))
    with pytest.raises(DataError, match=r"X.trn.npz: 3 rows of features, but train_labels.txt has 2 rows of labels"):
        read(tmp_path)


@pytest.mark.parametrize(("texts", "labels"), [("one\ntwo\n\n\n", "a\nb\n"), ("one\ntwo\n", "a\nb\n\n\n")])
def test_empty_lines_at_the_end_do_not_matter(tmp_path: Path, texts: str, labels: str) -> None:
    dataset = read(release(tmp_path, texts, labels))
    assert dataset.corpus.texts == ["one", "two"]
    assert dataset.labels.toarray().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(("texts", "labels"), [("one\ntwo\n", "a\n"), ("one\n", "a\nb\n")])
def test_other_differences_do(tmp_path: Path, texts: str, labels: str) -> None:
    with pytest.raises(DataError, match=r"train_raw_texts.txt: \d texts, but train_labels.txt has \d rows of labels"):
        read(release(tmp_path, texts, labels))


def test_texts_of_the_labels_beside_them(tmp_path: Path) -> None:
    (release(tmp_path, "one\n", "b a\n") / "labels.txt").write_text("b\tthe second\n")
    assert read(tmp_path).space == LabelSpace(["a", "b"], ["a", "the second"])

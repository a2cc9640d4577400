from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse as sp

from treetop.data import LabelSpace, read, splits
from treetop.errors import DataError

X = np.array([[0.5, 0, 1], [0, 2, 0]])
Y = np.array([[1, 0, 1, 0], [0, 1, 0, 0]])


def release(folder: Path, x: Any = X, y: Any = Y, split: str = "trn") -> Path:
    if x is not None:
        sp.save_npz(folder / f"X.{split}.npz", sp.csr_matrix(x))
    sp.save_npz(folder / f"Y.{split}.npz", sp.csr_matrix(y))
    return folder


def test_features_labels_texts_and_names(tmp_path: Path) -> None:
    release(release(tmp_path), X[:1], Y[:1], "tst")
    (tmp_path / "train_raw_texts.txt").write_text("one\ntwo\n")
    (tmp_path / "output-items.txt").write_text("w\nx\ny\nz\n")
    assert splits(tmp_path) == ("train", "test")
    train, test = read(tmp_path), read(tmp_path, split="tst")
    assert train.corpus.texts == ["one", "two"]
    assert train.space == test.space == LabelSpace(["w", "x", "y", "z"])
    assert train.corpus.features is not None
    assert train.corpus.features.toarray().tolist() == X.tolist()
    assert train.labels.toarray().tolist() == Y.tolist()
    assert (test.corpus.texts, len(test)) == ([], 1)
    assert read(tmp_path / "Y.trn.npz").space == read(tmp_path / "X.trn.npz").space


def test_relevances_stay_and_stored_zeros_go(tmp_path: Path) -> None:
    labels = sp.csr_matrix((np.array([0.5, 0.0, 2.0]), np.array([0, 1, 3]), np.array([0, 2, 3])), shape=(2, 4))
    dataset = read(release(tmp_path, y=labels))
    assert dataset.labels.toarray().tolist() == [[0.5, 0, 0, 0], [0, 0, 0, 2]]
    assert dataset.labels.nnz == 2


def test_titles_that_occur_twice_are_texts_of_numbered_labels(tmp_path: Path) -> None:
    (tmp_path / "output-items.txt").write_text("pen\npen\n\nink\n")
    assert read(release(tmp_path)).space == LabelSpace(["0", "1", "2", "3"], ["pen", "pen", "", "ink"])


def test_texts_in_the_release_of_pecos(tmp_path: Path) -> None:
    (release(tmp_path, x=None) / "X.trn.txt").write_text("one\ntwo\n")
    dataset = read(tmp_path)
    assert (dataset.corpus.texts, dataset.corpus.features) == (["one", "two"], None)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (X[:1], Y, r"X.trn.npz: 1 rows of features, but Y.trn.npz has 2 rows of labels"),
        (None, Y, r"Y.trn.npz: nothing beside these labels describes the texts; expected X.trn.npz"),
        (X * np.nan, Y, r"X.trn.npz: the features hold nan at row 0, column 0"),
        (-X, Y, r"X.trn.npz: the features hold -0.5 at row 0"),
        (X, -Y, r"Y.trn.npz: the labels hold -1.0 at row 0, column 0"),
        (X, Y * 0, r"Y.trn.npz: none of the 2 texts has a label"),
    ],
)
def test_matrices_that_cannot_be_used(tmp_path: Path, x: Any, y: Any, expected: str) -> None:
    with pytest.raises(DataError, match=expected):
        read(release(tmp_path, x, y))


def test_names_of_another_count(tmp_path: Path) -> None:
    (release(tmp_path) / "output-items.txt").write_text("a\nb\n")
    with pytest.raises(DataError, match=r"output-items.txt: 2 labels, but the label matrix has 4 columns"):
        read(tmp_path)


@pytest.mark.parametrize("content", ["text", "dense", "pickle"])
def test_foreign_files(tmp_path: Path, content: str) -> None:
    path = release(tmp_path) / "X.trn.npz"
    if content == "text":
        path.write_text("not a matrix")
    else:
        np.savez(path, a=np.array([{}]) if content == "pickle" else X)
    with pytest.raises(DataError, match=r"X.trn.npz: not a sparse matrix in scipy's npz format"):
        read(tmp_path)


def test_a_matrix_alone(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "features.npz", sp.csr_matrix(X))
    with pytest.raises(DataError, match=r"a matrix alone is no dataset"):
        read(tmp_path / "features.npz")

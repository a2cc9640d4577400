from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treetop.data import LabelSpace, read
from treetop.errors import DataError

GOOD = "4 5 3\n2,0 0:0.5 4:1.5\n 1:2\n1:3 0:1e-2\n1,1\n"
FEATURES: list[list[float]] = [[0.5, 0, 0, 0, 1.5], [0, 2, 0, 0, 0], [0.01, 3, 0, 0, 0], [0, 0, 0, 0, 0]]
LABELS = [[1, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0]]


def written(folder: Path, content: str, name: str = "train.txt") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_features_and_numbered_labels(tmp_path: Path) -> None:
    dataset = read(written(tmp_path, GOOD))
    assert dataset.corpus.features is not None
    assert np.allclose(dataset.corpus.features.toarray(), FEATURES)
    assert dataset.labels.toarray().tolist() == LABELS
    assert dataset.space.names == ("0", "1", "2")
    assert (len(dataset), dataset.unlabelled, dataset.corpus.texts) == (4, 2, [])
    assert dataset.corpus.features.indices.dtype == np.int32


def test_harmless_oddities(tmp_path: Path) -> None:
    dataset = read(written(tmp_path, "\ufeff" + GOOD.replace("\n", "\r\n") + "\n\n"))
    assert dataset.labels.toarray().tolist() == LABELS


def test_any_white_space_between_numbers(tmp_path: Path) -> None:
    dataset = read(written(tmp_path, "3 5 3\n2,0\t0:.5  4:1.5 \n\n1 \n"))
    assert dataset.labels.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert dataset.corpus.features is not None
    assert dataset.corpus.features.toarray()[0].tolist() == [0.5, 0, 0, 0, 1.5]
    assert dataset.corpus.features.nnz == 2


def test_batches_join_seamlessly(tmp_path: Path) -> None:
    count = 5000
    lines = [f"{row % 7},{row % 3} {row % 11}:{row + 1} {row % 13 + 11}:1" for row in range(count)]
    dataset = read(written(tmp_path, f"{count} 24 7\n" + "\n".join(lines)))
    features = dataset.corpus.features
    assert features is not None
    rows = np.arange(count)
    assert features[rows, rows % 11].tolist() == (rows + 1).tolist()
    assert dataset.labels[rows, rows % 7].sum() == count


def test_texts_and_label_names_beside_it(tmp_path: Path) -> None:
    written(tmp_path, GOOD, "eurlex_train.txt")
    written(tmp_path, "uno\ndos\n\ncuatro\n", "train_raw_texts.txt")
    written(tmp_path, "alpha\tthe first\nbeta\ngamma\n", "labels.txt")
    dataset = read(tmp_path)
    assert dataset.corpus.texts == ["uno", "dos", "", "cuatro"]
    assert dataset.space == LabelSpace(["alpha", "beta", "gamma"], ["the first", "beta", "gamma"])
    assert read(tmp_path / "eurlex_train.txt").space == dataset.space


def test_a_given_space_moves_the_columns(tmp_path: Path) -> None:
    dataset = read(written(tmp_path, GOOD), space=LabelSpace(["2", "x", "1"]))
    assert dataset.space.names == ("2", "x", "1", "0")
    assert dataset.labels.toarray().tolist() == [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    assert dataset.labels.has_sorted_indices


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1,2 0:1\n", r"line 1: the first line is '1,2 0:1', expected three counts"),
        ("4 5\n0 0:1\n", r"line 1: the first line is '4 5'"),
        ("", r"line 1: the first line is ''"),
        ("3 5 3\n0 0:1\n1 1:1\n", r"promises 3 texts, the file has 2; is it cut short\?"),
        ("1 5 3\n0 0:1\n1 1:1\n", r"line 3: the header promises 1 texts, but here is one more"),
        (
            "2 5 3\n0 0:1\n3 0:1\n",
            r"line 3: label 3 is out of range: the header promises 3 labels; numbers count from 0",
        ),
        ("2 5 3\n0 0:1\n-1 0:1\n", r"line 3: label -1 is out of range"),
        ("2 5 3\n0 0:1\n1 5:1\n", r"line 3: feature 5 is out of range: the header promises 5 features; numbers count"),
        ("2 5 3\n0 0:1\n1 1.5:1\n", r"line 3: feature 1.5 is out of range"),
        ("2 5 3\n0 0:1\na 1:1\n", r"line 3: cannot be parsed: 'a 1:1'; expected 'label,label feature:value …'"),
        ("2 5 3\n0 0:1\n1 1:x\n", r"line 3: cannot be parsed: '1 1:x'"),
        ("2 5 3\n0 0:1\n1 1:2:3\n", r"line 3: cannot be parsed"),
        ("2 5 3\n0 0:1\n1 1:2 3\n", r"line 3: cannot be parsed"),
        ("2 5 3\n0 0:1\n1, 1:2\n", r"line 3: cannot be parsed"),
        ("2 5 3\n0 0:1\n1 1:nan\n", r"the features hold nan at row 1, column 1"),
        ("2 5 3\n0 0:inf\n1 1:1\n", r"the features hold inf at row 0, column 0"),
        (
            "2 5 3\n0 0:1\n1 1:-2\n",
            r"the features hold -2.0 at row 1, column 1; entries must be finite and not negative",
        ),
        ("2 5 3\n 0:1\n 1:1\n", r"none of the 2 texts has a label"),
        ("0 5 3\n", "there is no text in it"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: str, expected: str) -> None:
    with pytest.raises(DataError, match=expected) as caught:
        read(written(tmp_path, content))
    assert str(tmp_path / "train.txt") in str(caught.value)


def test_texts_of_another_count_are_refused(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    written(tmp_path, "one\ntwo\n", "train_texts.txt")
    with pytest.raises(DataError, match=r"train_texts.txt: 2 texts, but train.txt has 4 rows of labels"):
        read(tmp_path)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treetop.data import read
from treetop.errors import DataError
from treetop.metrics import evaluate
from treetop.predictions import Predictions

RELEASES = Path(__file__).parents[1] / "fixtures" / "releases"


def test_pairs_that_are_left_out_of_an_evaluation() -> None:
    """As the repository's own evaluation: the score of such a pair is minus infinity, whatever is true."""
    train = read(RELEASES / "repository-lf")
    test = read(RELEASES / "repository-lf", split="test", space=train.space)
    assert train.filtered is not None  # the file for the training texts, which nothing asks for
    assert test.filtered is not None
    assert test.filtered.toarray().tolist() == [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]]
    assert test.most_filtered == 1
    labels = np.array([[2, 3], [2, 0], [0, 1]], np.int32)
    found = Predictions(labels, np.array([[0.9, 0.8], [0.9, 0.8], [0.9, 0.8]], np.float32), train.space.names)
    assert evaluate(found, test, ["p@1"]) == {"p@1": 1 / 3}  # "prices" of text 0 goes, and "labour disputes" is right
    assert evaluate(found, test.labels, ["p@1"]) == {"p@1": 0}
    assert test.take([2, 0]).filtered is not None
    assert evaluate(found.rows(np.array([2, 0])), test.take([2, 0]), ["p@1"]) == {"p@1": 1 / 2}


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("filter_labels_test.txt", "0 2\nx\n", "line 2: cannot be parsed: 'x'; expected 'text label'"),
        ("filter_labels_test.txt", "3 0\n", "line 1: text 3 and label 0, but there are 3 texts and 4 labels"),
        ("tst_X_Y.txt", "3 4 1\n", "the first line is '3 4 1', expected two counts"),
        ("tst_X_Y.txt", "3 4\n0:1\n1:1\n4:1\n", "line 4: feature 4 is out of range"),
        ("tst_X_Y.txt", "3 4\n0:1\n", "the header promises 3 texts, the file has 1"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, file: str, content: str, said: str) -> None:
    for path in (RELEASES / "repository-lf").glob("*_*.txt"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / file).write_text(content)
    with pytest.raises(DataError, match=said):
        read(tmp_path, split="test")

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array

from treetop.data import Dataset, LabelSpace
from treetop.errors import DataError
from treetop.metrics import best_threshold, breakdown, evaluate, expected_calibration_error, f1, paired_difference
from treetop.metrics.truth import as_truth
from treetop.predictions import Predictions

PREDICTED = Predictions(
    np.array([[0, 2], [1, -1], [2, 1]], np.int32),
    np.array([[0.9, 0.4], [0.8, 0.0], [0.7, 0.2]], np.float32),
    ("a", "b", "c"),
)
NAMES = [["c", "new"], ["b"], None]
MATRIX = csr_array(np.array([[0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]], np.float32))
METRICS = ["p@1", "r@2", "ndcg@2", "microf1@2", "macrof1@2", "coverage@2"]


def test_every_form_of_the_truth_gives_the_same_figures() -> None:
    right = evaluate(PREDICTED, MATRIX, METRICS)
    assert right["r@2"] == pytest.approx((1 / 2 + 1 + 0) / 3)  # "new" is true and cannot be found
    dense, order = MATRIX.toarray(), ["new", "c", "a", "b"]
    moved = dense[:, [3, 2, 0, 1]]
    own = Dataset.build(["x", "y", "z"], NAMES)
    with_space = Dataset.build(["x", "y", "z"], NAMES, space=LabelSpace(PREDICTED.names or ()))
    for truth in (NAMES, dense, dense.astype(bool), csc_matrix(dense), own, with_space):
        assert evaluate(PREDICTED, truth, METRICS) == right
    for other in (moved, csr_array(moved), csc_matrix(moved)):
        assert evaluate(PREDICTED, other, METRICS, label_names=order) == right


def test_a_table_of_zeros_and_ones_is_matched_by_its_names() -> None:
    import polars

    table = polars.DataFrame(MATRIX.toarray()[:, [3, 2, 0, 1]], schema=["new", "c", "a", "b"])
    assert evaluate(PREDICTED, table, METRICS) == evaluate(PREDICTED, MATRIX, METRICS)


def test_all_metrics_take_names() -> None:
    frequency = np.array([5, 200, 1, 0])
    assert f1(PREDICTED, NAMES, threshold=0.5) == f1(PREDICTED, MATRIX, threshold=0.5)
    assert best_threshold(PREDICTED, NAMES) == best_threshold(PREDICTED, MATRIX)
    assert expected_calibration_error(PREDICTED, NAMES) == expected_calibration_error(PREDICTED, MATRIX)
    assert breakdown(PREDICTED, NAMES, ["p@1"], frequency=frequency) == breakdown(
        PREDICTED, MATRIX, ["p@1"], frequency=frequency
    )
    other = PREDICTED.top(1)
    assert paired_difference(PREDICTED, other, NAMES, "p@2") == paired_difference(PREDICTED, other, MATRIX, "p@2")


def test_a_matrix_in_the_right_order_is_taken_as_it_is() -> None:
    assert as_truth(PREDICTED, MATRIX) is MATRIX


def test_mistakes() -> None:
    nameless = Predictions(PREDICTED.labels, PREDICTED.scores)
    with pytest.raises(DataError, match="have no label names"):
        evaluate(nameless, NAMES)
    with pytest.raises(DataError, match="predictions for 3 texts cannot be judged by the labels of 2 texts"):
        evaluate(PREDICTED, NAMES[:2])
    with pytest.raises(DataError, match=r"the labels of text 0 are 'c' \(str\)"):
        evaluate(PREDICTED, ["c", "b", "a"])
    with pytest.raises(DataError, match="a dataset has its names already"):
        evaluate(PREDICTED, Dataset.build(["x", "y", "z"], NAMES), label_names=["a"])
    with pytest.raises(DataError, match="label_names has 1 names for a matrix of 4 columns"):
        evaluate(PREDICTED, MATRIX, label_names=["a"])

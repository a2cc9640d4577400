from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from treetop.linear.dense_level import Affine, DenseLevel, log_link, sigmoid
from treetop.runtime import Runtime
from treetop.sparse import canonical

ONE = Runtime(threads=1)
WEIGHT = np.array([[1, 0], [0, 1], [1, 1], [-1, 0]], np.float32)
STATES = np.array([[2, 1], [-1, 3]], np.float32)


def test_the_best_of_all_nodes() -> None:
    found = DenseLevel(WEIGHT, np.array([0, 5, 0, 0], np.float32)).best(STATES, 2, ONE)
    assert found.toarray().tolist() == [[0, 6, 3, 0], [0, 8, 2, 0]]
    assert found.has_canonical_format


def test_only_some_nodes_may_be_looked_at() -> None:
    found = DenseLevel(WEIGHT).best(STATES, 3, ONE, allowed=np.array([True, False, False, True]))
    assert found.nnz == 4
    assert found.toarray().tolist() == [[2, 0, 0, -2], [-1, 0, 0, 1]]


def test_margins_of_a_shortlist() -> None:
    shortlist = canonical(np.array([[9, 0, 9, 0], [0, 0, 0, 9]], np.float32))
    assert DenseLevel(WEIGHT).at(STATES, shortlist, ONE).toarray().tolist() == [[2, 0, 3, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("squash", ["none", "sigmoid"])
def test_a_bottleneck_comes_first(squash: str) -> None:
    turn = Affine(np.array([[0, 1], [1, 0], [1, 1]], np.float32), np.array([0, 0, 1], np.float32), squash)  # type: ignore[arg-type]
    weight = np.eye(3, dtype=np.float32)
    expected = np.array([[1, 2, 4], [3, -1, 3]], np.float32)
    expected = expit(expected) if squash == "sigmoid" else expected
    np.testing.assert_allclose(DenseLevel(weight, None, turn).best(STATES, 3, ONE).toarray(), expected, rtol=1e-6)


def test_logarithms_of_scores() -> None:
    margins = np.array([-1, 0.5, 2], np.float32)
    assert log_link(margins, "noop").tolist() == [-1, 0.5, 2]
    assert log_link(margins, "l2-hinge").tolist() == [-4, -0.25, 0]
    np.testing.assert_allclose(np.exp(log_link(margins, "sigmoid")), expit(margins), rtol=1e-6)


def test_the_sigmoid_of_anything() -> None:
    margins = np.array([-1e4, -3, 0, 5, 1e4], np.float32)
    np.testing.assert_allclose(sigmoid(margins), expit(margins), rtol=1e-6)

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from treetop.data import LabelSpace
from treetop.data.matrices import check_values, in_space, without_zeros
from treetop.errors import DataError
from treetop.sparse import canonical


def test_values_out_of_bounds_are_placed() -> None:
    for bad in (np.nan, np.inf, -1):
        with pytest.raises(DataError, match=r"the features hold .* at row 1, column 2;"):
            check_values(canonical(np.array([[1.0, 0, 0], [0, 1, bad]])), "the features")
    check_values(canonical(np.zeros((2, 2))), "the features")


def test_without_zeros_leaves_its_argument_alone() -> None:
    labels = csr_array((np.array([1.0, 0.0], np.float32), np.array([0, 1]), np.array([0, 2])), shape=(1, 3))
    assert without_zeros(labels).nnz == 1
    assert labels.nnz == 2


def test_in_space_moves_columns_and_appends_only_labels_that_occur() -> None:
    labels = canonical(np.array([[1, 2, 0, 0], [0, 0, 0, 3]]))
    own = LabelSpace(["p", "q", "r", "s"])
    moved, wide = in_space(labels, own, LabelSpace(["q", "p"]))
    assert wide.names == ("q", "p", "s")
    assert moved.toarray().tolist() == [[2, 1, 0], [0, 0, 3]]
    assert moved.indices.tolist() == [0, 1, 2]
    assert in_space(labels, own, None) == (labels, own)
    assert in_space(labels, own, LabelSpace(["p", "q", "r", "s"]))[0] is labels


def test_in_space_takes_texts_of_what_it_appends() -> None:
    own = LabelSpace(["p", "q"], ["text p", "text q"])
    wide = in_space(canonical(np.eye(2)), own, LabelSpace(["q"], ["mine"]))[1]
    assert wide == LabelSpace(["q", "p"], ["mine", "text p"])

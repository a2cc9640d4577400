"""Sparse algebra against dense numpy, with an explicit mask for what is stored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse as sp

from treetop.errors import DataError
from treetop.sparse import (
    Joined,
    binarise,
    canonical,
    check_features,
    from_parts,
    join,
    normalise,
    only_columns,
    row_numbers,
    take_rows,
    top_k,
    union,
)

VALUES = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 1.0, 3.0])  # ties and zeros on purpose


@st.composite
def masked(draw, shape=None):
    """A dense matrix and the mask of its stored entries; stored zeros included."""
    shape = shape or draw(st.tuples(st.integers(0, 6), st.integers(0, 6)))
    stored = draw(hnp.arrays(bool, shape))
    values = draw(hnp.arrays(np.float32, shape, elements=VALUES))
    return np.where(stored, values, np.float32(0)), stored


@st.composite
def two_masked(draw):
    shape = draw(st.tuples(st.integers(0, 6), st.integers(0, 6)))
    return draw(masked(shape)), draw(masked(shape))


def csr(pair):
    dense, stored = pair
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    return from_parts(indptr, np.nonzero(stored)[1].astype(np.int32), dense[stored], columns=dense.shape[1])


def stored_in(matrix):
    mask = np.zeros(matrix.shape, bool)
    mask[row_numbers(matrix), matrix.indices] = True
    return mask


def assert_is(matrix, dense, stored):
    """The matrix is canonical, has these values, and stores exactly these entries."""
    assert matrix.data.dtype == np.float32
    assert matrix.indices.dtype == np.int32
    fresh = sp.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    assert fresh.has_canonical_format  # found out, not trusted
    assert matrix.shape == dense.shape
    np.testing.assert_array_equal(matrix.toarray(), dense)
    np.testing.assert_array_equal(stored_in(matrix), stored)


def frozen(matrix):
    """The same matrix in arrays that refuse to be written to."""
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix


# --------------------------------------------------------------------------- canonical


@given(masked(), st.sampled_from([np.float32, np.float64, np.int64]), st.sampled_from([np.int32, np.int64]), st.data())
def test_canonical_takes_any_order_type_and_duplicates(pair, dtype, index_dtype, data):
    dense, stored = np.round(pair[0]), pair[1]
    rows, columns = np.nonzero(stored)
    order = np.array(data.draw(st.permutations(range(len(rows)))), int)
    rows, columns = rows[order], columns[order]
    parts = sp.coo_array((dense[rows, columns].astype(dtype), (rows, columns)), shape=dense.shape).tocsr()
    parts = sp.csr_array((parts.data, parts.indices.astype(index_dtype), parts.indptr), shape=dense.shape)
    twice = np.argsort(np.tile(row_numbers(parts), 2), kind="stable")  # each row followed by a copy of itself
    entries = (np.tile(parts.data, 2)[twice], np.tile(parts.indices, 2)[twice], parts.indptr * 2)
    doubled = sp.csr_array(entries, shape=dense.shape)
    before = doubled.indices.copy()
    assert_is(canonical(doubled), 2 * dense, stored)
    np.testing.assert_array_equal(doubled.indices, before)


@given(masked())
def test_canonical_takes_any_kind_of_matrix(pair):
    dense, stored = pair
    assert_is(canonical(dense), dense, dense != 0)
    assert_is(canonical(sp.csr_matrix(csr(pair))), dense, stored)
    assert_is(canonical(sp.coo_array(csr(pair))), dense, stored)
    assert_is(canonical(sp.csc_array(csr(pair))), dense, stored)


def test_canonical_leaves_what_is_canonical_alone():
    matrix = csr((np.eye(3, dtype=np.float32), np.eye(3, dtype=bool)))
    assert canonical(matrix) is matrix


# --------------------------------------------------------------------------- row by row


@given(masked(), st.sampled_from(["l1", "l2"]))
def test_normalise(pair, norm):
    dense, stored = pair
    lengths = np.linalg.norm(dense.astype(np.float64), ord=int(norm[1]), axis=1, keepdims=True) if dense.size else 1
    expected = (dense / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    result = normalise(frozen(csr(pair)), norm)
    np.testing.assert_array_equal(stored_in(result), stored)
    np.testing.assert_allclose(result.toarray(), expected, rtol=1e-6)
    rows = normalise(dense, norm)
    np.testing.assert_allclose(rows, expected, rtol=1e-6)
    assert rows.dtype == np.float32


@pytest.mark.parametrize("size", [1e-30, 1e30])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_normalise_very_small_and_very_large_rows(size, norm):
    dense = np.array([[3, 4], [0, 1]], np.float32) * np.float32(size)
    expected = [[3 / 7, 4 / 7], [0, 1]] if norm == "l1" else [[0.6, 0.8], [0, 1]]
    np.testing.assert_allclose(normalise(dense, norm), expected, rtol=1e-6)
    np.testing.assert_allclose(normalise(canonical(dense), norm).toarray(), expected, rtol=1e-6)


@given(masked())
def test_binarise(pair):
    assert_is(binarise(frozen(csr(pair))), pair[1].astype(np.float32), pair[1])


@given(masked(), st.integers(0, 2**16))
def test_only_columns(pair, bits):
    wanted = np.array([bits >> column & 1 for column in range(pair[0].shape[1])], bool)
    assert_is(only_columns(frozen(csr(pair)), wanted), pair[0] * wanted, pair[1] & wanted)


@given(two_masked())
def test_union(pairs):
    (a, in_a), (b, in_b) = pairs
    expected = np.where(in_a & in_b, np.maximum(a, b), np.where(in_a, a, b))
    assert_is(union(frozen(csr(pairs[0])), frozen(csr(pairs[1]))), expected, in_a | in_b)


def test_union_of_unequal_shapes():
    with pytest.raises(DataError, match=r"\(1, 2\) and \(2, 1\)"):
        union(csr((np.ones((1, 2)), np.ones((1, 2), bool))), csr((np.ones((2, 1)), np.ones((2, 1), bool))))


@given(masked(), st.integers(0, 8))
def test_top_k(pair, k):
    dense, stored = pair
    kept = np.zeros_like(stored)
    for row in range(len(dense)):
        entries = sorted(np.flatnonzero(stored[row]), key=lambda column: (-dense[row, column], column))
        kept[row, entries[:k]] = True
    assert_is(top_k(frozen(csr(pair)), k), np.where(kept, dense, 0), kept)


@given(masked())
def test_row_numbers(pair):
    np.testing.assert_array_equal(row_numbers(csr(pair)), np.nonzero(pair[1])[0])


# --------------------------------------------------------------------------- joined features


@st.composite
def picks(draw, rows):
    """Ways to choose rows: numbers with repeats, a mask, a slice."""
    if not rows:
        return draw(st.sampled_from([np.zeros(0, int), slice(None), np.zeros(0, bool)]))
    return draw(
        st.one_of(
            st.lists(st.integers(-rows, rows - 1)).map(lambda chosen: np.array(chosen, int)),
            hnp.arrays(bool, rows),
            st.slices(rows),
        )
    )


@given(st.data())
def test_take_rows(data):
    pair = data.draw(masked())
    block = data.draw(hnp.arrays(np.float32, (len(pair[0]), 2), elements=VALUES))
    rows = data.draw(picks(len(block)))
    assert_is(take_rows(csr(pair), rows), pair[0][rows], pair[1][rows])
    np.testing.assert_array_equal(take_rows(block, rows), block[rows])
    both = take_rows(join(csr(pair), block), rows)
    assert isinstance(both, Joined)
    assert both.shape == (len(block[rows]), pair[0].shape[1] + 2)
    assert_is(both.sparse, pair[0][rows], pair[1][rows])
    np.testing.assert_array_equal(both.dense, block[rows])
    assert both.dense.flags.c_contiguous


def test_join_needs_the_same_texts():
    with pytest.raises(DataError, match="2 rows and the dense block 3"):
        join(canonical(np.eye(2)), np.zeros((3, 2)))


# --------------------------------------------------------------------------- bad values


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_with_their_row(bad):
    dense = np.zeros((4, 3), np.float32)
    dense[0, 1] = dense[3, 0] = 1
    dense[2, 2] = bad
    for features in (dense, canonical(dense), join(canonical(np.eye(4)), dense), join(canonical(dense), np.eye(4))):
        with pytest.raises(DataError, match=f"the matrix holds {bad} in row 2"):
            check_features(features, what="the matrix")


@given(masked())
def test_finite_values_pass(pair):
    check_features(csr(pair), what="x")
    check_features(pair[0], what="x")

"""Sparse algebra against dense numpy, with an explicit mask for what is stored."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import sparse as sp

from treetop.errors import DataError
from treetop.sparse import (
    Joined,
    Norm,
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
from treetop.types import CSR, Dense

VALUES = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 1.0, 3.0])  # ties and zeros on purpose


Pair: TypeAlias = tuple[Dense, NDArray[np.bool_]]
"""A dense matrix and the mask of its stored entries."""


@st.composite
def masked(draw: st.DrawFn, shape: tuple[int, int] | None = None) -> Pair:
    """A dense matrix and the mask of its stored entries; stored zeros included."""
    shape = shape or draw(st.tuples(st.integers(0, 6), st.integers(0, 6)))
    stored = draw(hnp.arrays(bool, shape))
    values = draw(hnp.arrays(np.float32, shape, elements=VALUES))
    return np.where(stored, values, np.float32(0)), stored


@st.composite
def two_masked(draw: st.DrawFn) -> tuple[Pair, Pair]:
    shape = draw(st.tuples(st.integers(0, 6), st.integers(0, 6)))
    return draw(masked(shape)), draw(masked(shape))


def csr(pair: Pair) -> CSR:
    dense, stored = pair
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    return from_parts(indptr, np.nonzero(stored)[1].astype(np.int32), dense[stored], columns=dense.shape[1])


def stored_in(matrix: CSR) -> NDArray[np.bool_]:
    mask = np.zeros(matrix.shape, bool)
    mask[row_numbers(matrix), matrix.indices] = True
    return mask


def assert_is(matrix: CSR, dense: NDArray[Any], stored: NDArray[np.bool_]) -> None:
    """The matrix is canonical, has these values, and stores exactly these entries."""
    assert matrix.data.dtype == np.float32
    assert matrix.indices.dtype == np.int32
    fresh = sp.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    assert fresh.has_canonical_format  # found out, not trusted
    assert matrix.shape == dense.shape
    np.testing.assert_array_equal(matrix.toarray(), dense)
    np.testing.assert_array_equal(stored_in(matrix), stored)


def frozen(matrix: CSR) -> CSR:
    """The same matrix in arrays that refuse to be written to."""
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix


# --------------------------------------------------------------------------- canonical


@given(masked(), st.sampled_from([np.float32, np.float64, np.int64]), st.sampled_from([np.int32, np.int64]), st.data())
def test_canonical_takes_any_order_type_and_duplicates(
    pair: Pair, dtype: type[Any], index_dtype: type[Any], data: st.DataObject
) -> None:
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
def test_canonical_takes_any_kind_of_matrix(pair: Pair) -> None:
    dense, stored = pair
    assert_is(canonical(dense), dense, dense != 0)
    assert_is(canonical(sp.csr_matrix(csr(pair))), dense, stored)
    assert_is(canonical(sp.coo_array(csr(pair))), dense, stored)
    assert_is(canonical(sp.csc_array(csr(pair))), dense, stored)


def test_canonical_leaves_what_is_canonical_alone() -> None:
    matrix = csr((np.eye(3, dtype=np.float32), np.eye(3, dtype=bool)))
    assert canonical(matrix) is matrix


# --------------------------------------------------------------------------- row by row


@given(masked(), st.sampled_from(["l1", "l2"]))
def test_normalise(pair: Pair, norm: Norm) -> None:
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
def test_normalise_very_small_and_very_large_rows(size: float, norm: Norm) -> None:
    dense = np.array([[3, 4], [0, 1]], np.float32) * np.float32(size)
    expected = np.array([[3 / 7, 4 / 7], [0, 1]] if norm == "l1" else [[0.6, 0.8], [0, 1]])
    np.testing.assert_allclose(normalise(dense, norm), expected, rtol=1e-6)
    np.testing.assert_allclose(normalise(canonical(dense), norm).toarray(), expected, rtol=1e-6)


@given(masked())
def test_binarise(pair: Pair) -> None:
    assert_is(binarise(frozen(csr(pair))), pair[1].astype(np.float32), pair[1])


@given(masked(), st.integers(0, 2**16))
def test_only_columns(pair: Pair, bits: int) -> None:
    wanted = np.array([bits >> column & 1 for column in range(pair[0].shape[1])], bool)
    assert_is(only_columns(frozen(csr(pair)), wanted), pair[0] * wanted, pair[1] & wanted)


@given(two_masked())
def test_union(pairs: tuple[Pair, Pair]) -> None:
    (a, in_a), (b, in_b) = pairs
    expected = np.where(in_a & in_b, np.maximum(a, b), np.where(in_a, a, b))
    assert_is(union(frozen(csr(pairs[0])), frozen(csr(pairs[1]))), expected, in_a | in_b)


def test_union_of_unequal_shapes() -> None:
    with pytest.raises(DataError, match=r"\(1, 2\) and \(2, 1\)"):
        union(canonical(np.ones((1, 2))), canonical(np.ones((2, 1))))


@given(masked(), st.integers(0, 8))
def test_top_k(pair: Pair, k: int) -> None:
    dense, stored = pair
    kept = np.zeros_like(stored)
    for row in range(len(dense)):
        entries = sorted(np.flatnonzero(stored[row]), key=lambda column: (-dense[row, column], column))
        kept[row, entries[:k]] = True
    assert_is(top_k(frozen(csr(pair)), k), np.where(kept, dense, 0), kept)


@given(masked())
def test_row_numbers(pair: Pair) -> None:
    np.testing.assert_array_equal(row_numbers(csr(pair)), np.nonzero(pair[1])[0])


# --------------------------------------------------------------------------- joined features


@st.composite
def picks(draw: st.DrawFn, rows: int) -> Any:
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
def test_take_rows(data: st.DataObject) -> None:
    pair = data.draw(masked())
    block = data.draw(hnp.arrays(np.float32, (len(pair[0]), 2), elements=VALUES))
    rows = data.draw(picks(len(block)))
    taken = take_rows(csr(pair), rows)
    assert isinstance(taken, sp.csr_array)
    assert_is(taken, pair[0][rows], pair[1][rows])
    np.testing.assert_array_equal(take_rows(block, rows), block[rows])
    both = take_rows(join(csr(pair), block), rows)
    assert isinstance(both, Joined)
    assert both.shape == (len(block[rows]), pair[0].shape[1] + 2)
    assert_is(both.sparse, pair[0][rows], pair[1][rows])
    np.testing.assert_array_equal(both.dense, block[rows])
    assert both.dense.flags.c_contiguous


def test_join_needs_the_same_texts() -> None:
    with pytest.raises(DataError, match="2 rows and the dense block 3"):
        join(canonical(np.eye(2)), np.zeros((3, 2), np.float32))


# --------------------------------------------------------------------------- bad values


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_with_their_row(bad: float) -> None:
    dense = np.zeros((4, 3), np.float32)
    dense[0, 1] = dense[3, 0] = 1
    dense[2, 2] = bad
    fine = np.eye(4, dtype=np.float32)
    for features in (dense, canonical(dense), join(canonical(fine), dense), join(canonical(dense), fine)):
        with pytest.raises(DataError, match=f"the matrix holds {bad} in row 2"):
            check_features(features, what="the matrix")


@given(masked())
def test_finite_values_pass(pair: Pair) -> None:
    check_features(csr(pair), what="x")
    check_features(pair[0], what="x")

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from treetop import kernels
from treetop.kernels.reference import rows as reference
from treetop.sparse import canonical
from treetop.types import CSR


def few_values(rows: int, columns: int, seed: int) -> CSR:
    """A matrix of few distinct values: many ties, both zeros, negative numbers."""
    rng = np.random.default_rng(seed)
    x = canonical(rng.random((rows, columns)) < 0.5)
    x.data[:] = rng.choice(np.array([-1, -0.0, 0.0, 0.5, 2], np.float32), x.nnz)
    return x


@given(st.integers(0, 30), st.integers(1, 40), st.integers(-1, 45), st.integers(0, 99))
def test_top_k_equals_the_reference(rows: int, columns: int, k: int, seed: int) -> None:
    x = few_values(rows, columns, seed)
    best, expected = kernels.top_k(x, k, threads=2), reference.top_k(x, k)
    assert best.indices.dtype == best.indptr.dtype == np.int32
    np.testing.assert_array_equal(best.indptr, expected.indptr)
    np.testing.assert_array_equal(best.indices, expected.indices)
    np.testing.assert_array_equal(best.data, expected.data)


def test_top_k_of_many_rows_is_the_same_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    x = canonical((rng.random((3000, 50)) < 0.5) * rng.standard_normal((3000, 50)))
    one, two = (kernels.top_k(x, 7, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.toarray(), two.toarray())
    np.testing.assert_array_equal(one.toarray(), reference.top_k(x, 7).toarray())


def test_a_matrix_of_trusted_arrays_is_what_the_constructor_makes() -> None:
    value, column, start = np.array([1, 2, 3], np.float32), np.array([0, 4, 2], np.int32), np.array([0, 2, 3], np.int32)
    expected = CSR((value, column, start), shape=(2, 5))
    expected.has_canonical_format = True
    found = kernels.bare_csr(start, column, value, columns=5)
    assert vars(found).keys() == vars(expected).keys()
    assert found.shape == expected.shape
    assert vars(found)["data"] is value
    np.testing.assert_array_equal((found @ found.T).toarray(), (expected @ expected.T).toarray())
    np.testing.assert_array_equal(found[1:].toarray(), expected[1:].toarray())


def test_what_is_not_a_number_comes_last() -> None:
    x = CSR((np.array([np.nan, -np.inf, np.inf], np.float32), np.arange(3), np.array([0, 3])), shape=(1, 3))
    assert kernels.top_k(x, 2).indices.tolist() == [1, 2]


@given(st.integers(0, 30), st.integers(0, 99))
def test_squared_lengths_equal_the_reference(rows: int, seed: int) -> None:
    x = few_values(rows, 9, seed)
    np.testing.assert_allclose(kernels.squared_lengths(x, threads=2), reference.squared_lengths(x))


@given(st.integers(0, 6), st.integers(1, 5), st.integers(0, 999), st.sampled_from([np.int32, np.int64]))
def test_the_first_bad_row_is_that_of_the_reference(rows: int, columns: int, seed: int, kind: type) -> None:
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, 9, rows + 1))
    column: NDArray[Any] = rng.integers(0, columns, 9).astype(kind)
    for array in (start, column):
        if rng.random() < 0.5:
            array[rng.integers(len(array))] = rng.choice([-1, columns, 10, 2**31 - 1])
    expected = reference.first_bad_row(start, column, columns=columns)
    assert kernels.first_bad_row(start, column, columns=columns) == expected


def test_columns_of_64_bits_are_not_cut() -> None:
    assert kernels.first_bad_row(np.array([0, 1]), np.array([2**32]), columns=5) == 0
    assert kernels.first_bad_row(np.array([0, 5000]), np.full(5000, 4, np.int32), columns=5) is None

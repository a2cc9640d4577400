"""Rows of sparse matrices: whether they are sound, their largest entries and their lengths, without large arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.kernels import _native
from treetop.types import CSR, Floats, Ids

__all__ = ["bare_csr", "csr_of", "first_bad_row", "offsets_of", "squared_lengths", "top_k"]

_EMPTY = vars(CSR((0, 0), dtype=np.float32))
"""What a matrix has beside its arrays and its shape."""


def csr_of(start: NDArray[np.int64], column: Ids, value: Floats, *, columns: int) -> CSR:
    """What a kernel returns as a matrix. Columns stay int32 unless there are 2^31 entries or more."""
    return bare_csr(start if len(column) >= 2**31 else start.astype(np.int32), column, value, columns=columns)


def bare_csr(start: NDArray[Any], column: NDArray[Any], value: NDArray[Any], *, columns: int) -> CSR:
    """Arrays that are trusted to be canonical, as a matrix.

    The constructor of scipy looks at them and chooses types, which takes longer than a short text takes to be read.
    """
    result = CSR.__new__(CSR)
    vars(result).update(_EMPTY, data=value, indices=column, indptr=start, _shape=(len(start) - 1, columns))
    result.has_canonical_format = True
    return result


def offsets_of(x: CSR) -> NDArray[np.int64]:
    """Where the rows of a matrix begin and end as kernels want it: in 64 bits, which scipy keeps for huge ones only."""
    return np.ascontiguousarray(x.indptr, np.int64)


def first_bad_row(start: NDArray[Any], column: NDArray[Any], *, columns: int) -> int | None:
    """The first row whose offsets fall or leave the array, or that has a column outside 0 … columns-1, if any."""
    starts = np.ascontiguousarray(start, np.int64)
    if column.dtype == np.int32:
        row = _native.first_bad_row(starts, np.ascontiguousarray(column, np.int32), columns)
    else:
        row = _native.first_bad_row(starts, np.ascontiguousarray(column, np.int64), columns)
    return None if row < 0 else row


def top_k(x: CSR, k: int, *, threads: int = 1) -> CSR:
    """The k largest entries of each row; ties go to the lower column. Stored zeros count as entries."""
    start, column, value = _native.top_k(offsets_of(x), x.indices, x.data, max(k, 0), threads)
    return csr_of(start, column, value, columns=x.shape[1])


def squared_lengths(x: CSR, *, threads: int = 1) -> NDArray[np.float64]:
    """The sum of squares of each row."""
    return _native.squared_lengths(offsets_of(x), x.data, threads)

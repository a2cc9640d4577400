"""The few things about sparse matrices that scipy lacks.

A `CSR` here is always canonical: float32 values, sorted unique int32 columns. Stored zeros are entries: a score that
underflowed to zero is still a score, so nothing in this file drops them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from treetop import kernels
from treetop.errors import DataError
from treetop.types import CSR, Dense, Features, Floats, Ids

__all__ = [
    "AnyFeatures",
    "Joined",
    "binarise",
    "canonical",
    "check_features",
    "check_rows",
    "dense_block",
    "from_parts",
    "join",
    "normalise",
    "only_columns",
    "row_numbers",
    "sparse_block",
    "take_entries",
    "take_rows",
    "top_k",
    "union",
]

_MOST_NARROW = 2**31 - 1
Norm: TypeAlias = Literal["l1", "l2"]
Rows: TypeAlias = NDArray[Any] | slice


@dataclass(frozen=True, slots=True)
class Joined:
    """Sparse and dense features of the same texts side by side: tf-idf ⊕ embedding.

    The two blocks stay apart, because a dense block stored as sparse would cost twice the memory and far more time.
    Columns are numbered through: first those of `sparse`, then those of `dense`.
    """

    sparse: CSR
    dense: Dense

    def __post_init__(self) -> None:
        if self.sparse.shape[0] != self.dense.shape[0]:
            raise DataError(
                f"the sparse block has {self.sparse.shape[0]} rows and the dense block {self.dense.shape[0]}; "
                "both must describe the same texts"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns of both blocks together."""
        return self.sparse.shape[0], self.sparse.shape[1] + self.dense.shape[1]

    def __getitem__(self, rows: Rows) -> Joined:
        return Joined(canonical(self.sparse[rows]), np.ascontiguousarray(self.dense[rows]))


AnyFeatures: TypeAlias = Features | Joined


def sparse_block(features: AnyFeatures) -> CSR | None:
    """The sparse part of the features, if any."""
    if isinstance(features, Joined):
        return features.sparse
    return None if isinstance(features, np.ndarray) else features


def dense_block(features: AnyFeatures) -> Dense | None:
    """The dense part of the features, if any."""
    if isinstance(features, Joined):
        return features.dense
    return features if isinstance(features, np.ndarray) else None


def canonical(matrix: Any) -> CSR:
    """The matrix as a `CSR`: float32, int32 columns, sorted, duplicates summed, stored zeros kept."""
    csr = matrix if isinstance(matrix, CSR) else sp.csr_array(matrix)
    if csr.data.dtype != np.float32:
        csr = csr.astype(np.float32)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if csr.indices.dtype != np.int32:
        csr = from_parts(csr.indptr, csr.indices, csr.data, columns=csr.shape[1])
    return csr


def from_parts(indptr: NDArray[Any], indices: NDArray[Any], values: Floats | None, *, columns: int) -> CSR:
    """A `CSR` from its three arrays, which are trusted to be canonical; no values means ones."""
    data: Floats = np.ones(len(indices), np.float32) if values is None else values
    # scipy gives both index arrays the wider of their types: one of int64 would make int64 columns.
    index = np.int32 if len(indices) <= _MOST_NARROW else np.int64
    return kernels.bare_csr(indptr.astype(index, copy=False), indices.astype(index, copy=False), data, columns=columns)


def check_rows(
    starts: NDArray[Any], columns: NDArray[Any], values: int, shape: tuple[int, int], *, what: str = "the matrix"
) -> None:
    """Refuse arrays that do not make a matrix of that shape: every index is looked at, once."""
    rows = len(starts) - 1
    if rows != shape[0] or len(columns) != values:
        raise DataError(f"{what} has {rows:,} rows, {len(columns):,} columns and {values:,} values for shape {shape}")
    if starts[0] != 0 or starts[-1] != values:
        raise DataError(f"{what}: its rows run from {starts[0]} to {starts[-1]}, not from 0 to {values}")
    if (row := kernels.first_bad_row(starts, columns, columns=shape[1])) is not None:
        raise DataError(f"{what}: row {row} has offsets that fall, or a column outside 0 … {shape[1] - 1}")


def row_numbers(x: CSR) -> NDArray[np.int64]:
    """The row of every stored entry."""
    return np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))


@overload
def normalise(x: CSR, norm: Norm = "l2") -> CSR: ...
@overload
def normalise(x: Dense, norm: Norm = "l2") -> Dense: ...
def normalise(x: Features, norm: Norm = "l2") -> Features:
    """Rows scaled to length one; rows of zeros stay as they are."""
    # Sums in float64: squares of float32 values may overflow or vanish.
    if isinstance(x, np.ndarray):
        sums = np.einsum("ij,ij->i", x, np.sign(x) if norm == "l1" else x, dtype=np.float64)
        return np.asarray(x / _lengths(sums, norm)[:, None].astype(np.float32), np.float32)
    values = x.data.astype(np.float64)
    sizes = np.abs(values) if norm == "l1" else values**2
    sums = np.bincount(row_numbers(x), weights=sizes, minlength=x.shape[0]).astype(np.float64)
    values /= np.repeat(_lengths(sums, norm), np.diff(x.indptr))
    return from_parts(x.indptr, x.indices, values.astype(np.float32), columns=x.shape[1])


def _lengths(sums: NDArray[np.float64], norm: Norm) -> NDArray[np.float64]:
    """Of rows, from sums of their absolute values or squares; 1 for rows of zeros."""
    return np.where(sums > 0, sums if norm == "l1" else np.sqrt(sums), 1)


def binarise(x: CSR) -> CSR:
    """Every stored entry becomes 1."""
    return from_parts(x.indptr, x.indices, None, columns=x.shape[1])


def union(a: CSR, b: CSR) -> CSR:
    """Entries of either matrix; where both have one, the larger value. Stored zeros survive."""
    if a.shape != b.shape:
        raise DataError(f"cannot unite matrices of shapes {a.shape} and {b.shape}")
    rows = np.concatenate([row_numbers(a), row_numbers(b)])
    columns = np.concatenate([a.indices, b.indices])
    values = np.concatenate([a.data, b.data])
    order = np.lexsort((-values, columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    return _from_sorted(rows[first], columns[first], values[first], a.shape)


def top_k(x: CSR, k: int) -> CSR:
    """The k largest entries of each row; ties go to the lower column. Stored zeros count as entries."""
    return kernels.top_k(x, k)


def only_columns(x: CSR, wanted: NDArray[np.bool_]) -> CSR:
    """The entries of some columns; the shape stays."""
    kept = wanted[x.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])
    return from_parts(ends[x.indptr], x.indices[kept], x.data[kept], columns=x.shape[1])


def take_entries(x: CSR, pattern: CSR) -> CSR:
    """The entries of a matrix at the places of another, whose entries are some of its own."""
    every, some = (row_numbers(matrix) * matrix.shape[1] + matrix.indices for matrix in (x, pattern))
    return from_parts(pattern.indptr, pattern.indices, x.data[np.searchsorted(every, some)], columns=x.shape[1])


def _from_sorted(rows: NDArray[np.int64], columns: Ids, values: Floats, shape: tuple[int, int]) -> CSR:
    indptr = np.zeros(shape[0] + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=indptr[1:])
    return from_parts(indptr, columns, values, columns=shape[1])


def join(sparse: CSR, dense: Dense) -> Joined:
    """Two blocks of features of the same texts, side by side."""
    return Joined(canonical(sparse), np.ascontiguousarray(dense, np.float32))


def take_rows(features: AnyFeatures, rows: Rows) -> AnyFeatures:
    """Some rows, in the order asked for."""
    if isinstance(features, Joined):
        return features[rows]
    if isinstance(features, np.ndarray):
        return np.ascontiguousarray(features[rows])
    return canonical(features[rows])


def check_features(features: AnyFeatures, *, what: str) -> None:
    """Refuse values that are not finite; `what` names the matrix in the message."""
    blocks = (features.sparse, features.dense) if isinstance(features, Joined) else (features,)
    for block in blocks:
        values = block.ravel() if isinstance(block, np.ndarray) else block.data
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            ends = np.arange(block.shape[0] + 1) * block.shape[1] if isinstance(block, np.ndarray) else block.indptr
            row = np.searchsorted(ends, bad[0], "right") - 1
            raise DataError(f"{what} holds {values[bad[0]]} in row {row}; remove or replace such values")

"""The definition of the kernels on rows in numpy."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.types import CSR

__all__ = ["first_bad_row", "squared_lengths", "top_k"]


def first_bad_row(start: NDArray[Any], column: NDArray[Any], *, columns: int) -> int | None:
    """The first row whose offsets fall or leave the array; if there is none, the first with a column outside."""
    pairs = [(int(first), int(last)) for first, last in pairwise(start)]
    torn = (row for row, (first, last) in enumerate(pairs) if not 0 <= first <= last <= len(column))
    if (row := next(torn, None)) is not None:
        return row
    outside = (column < 0) | (column >= columns)
    return next((row for row, (first, last) in enumerate(pairs) if outside[first:last].any()), None)


def top_k(x: CSR, k: int, *, threads: int = 1) -> CSR:  # noqa: ARG001
    """The k largest entries of each row; ties go to the lower column."""
    kept, indptr = [], [0]
    for first, last in zip(x.indptr[:-1], x.indptr[1:], strict=True):
        best = np.lexsort((x.indices[first:last], -x.data[first:last]))[: max(k, 0)]
        kept.append(first + np.sort(best))
        indptr.append(indptr[-1] + len(best))
    places = np.concatenate([np.empty(0, np.int64), *kept])
    return CSR((x.data[places], x.indices[places], np.array(indptr)), shape=x.shape)


def squared_lengths(x: CSR, *, threads: int = 1) -> NDArray[np.float64]:  # noqa: ARG001
    """The sum of squares of each row."""
    pairs = zip(x.indptr[:-1], x.indptr[1:], strict=True)
    return np.array([np.sum(x.data[first:last].astype(np.float64) ** 2) for first, last in pairs])

"""Checks and column order of matrices that benchmarks ship: features (texts × words) and labels (texts × labels)."""

from __future__ import annotations

import numpy as np
from scipy import sparse as sp

from treetop.data.dataset import LabelSpace
from treetop.data.limits import COLUMNS
from treetop.errors import DataError
from treetop.sparse import canonical, from_parts
from treetop.types import CSR

__all__ = ["check_columns", "check_values", "in_space", "stacked", "without_zeros"]


def check_columns(count: int) -> None:
    """Refuse a number of features that only a damaged header promises: weights are kept for each of them."""
    if count > COLUMNS:
        raise DataError(f"{count:,} features, more than the limit of {COLUMNS:,}; number them without gaps")


def check_values(matrix: CSR, what: str) -> None:
    """Refuse entries that are NaN, infinite or negative; the message names row and column, from 0."""
    bad = np.flatnonzero(~((matrix.data >= 0) & np.isfinite(matrix.data)))
    if len(bad):
        entry = bad[0]
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        raise DataError(
            f"{what} hold {matrix.data[entry]} at row {row}, column {matrix.indices[entry]}; "
            "entries must be finite and not negative, remove or replace such values"
        )


def without_zeros(labels: CSR) -> CSR:
    """Labels with a relevance of zero are no labels."""
    labels = canonical(labels).copy()
    labels.eliminate_zeros()
    return labels


def stacked(above: CSR, below: CSR) -> CSR:
    """The rows of two matrices with the same columns, one after another."""
    return canonical(sp.vstack([above, below], format="csr"))


def in_space(labels: CSR, own: LabelSpace, space: LabelSpace | None) -> tuple[CSR, LabelSpace]:
    """The labels with the columns of `space`; names that it lacks and that occur get columns behind its own."""
    if space is None or space.names == own.names:
        return labels, own if space is None else space
    used = np.unique(labels.indices)
    names = [own.names[column] for column in used]
    texts = None if own.texts is None else dict(zip(own.names, own.texts, strict=True))
    wide = space.extended(sorted(name for name in names if name not in space.index), texts)
    column_of = np.full(len(own), -1, np.int32)
    column_of[used] = [wide.index[name] for name in names]
    moved = from_parts(labels.indptr, column_of[labels.indices], labels.data, columns=len(wide))
    moved.has_canonical_format = moved.has_sorted_indices = False  # the new columns may run in another order
    return canonical(moved), wide

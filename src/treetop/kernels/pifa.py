"""PIFA: the features of a label are the sum of the features of its texts."""

from __future__ import annotations

from treetop.kernels import _native
from treetop.kernels.rows import csr_of, offsets_of
from treetop.types import CSR

__all__ = ["pifa"]


def pifa(features: CSR, members: CSR, *, normalise: bool = True, by_frequency: bool = False, threads: int = 1) -> CSR:
    """`members · features`, with rows of length one if `normalise`: labels × features.

    `members` (labels × texts) holds the weight of each text in each label. Labels without texts have an empty row.
    The result is the same for any number of threads.

    `by_frequency` numbers the features anew, those of most labels first, and leaves rows in the order of the old
    numbers: what k-means works on, which then needs no copy of its own.
    """
    if members.shape[1] != features.shape[0]:
        raise ValueError(f"members has columns for {members.shape[1]} texts, but features has {features.shape[0]} rows")
    start, column, value = _native.pifa(
        offsets_of(members),
        members.indices,
        members.data,
        offsets_of(features),
        features.indices,
        features.data,
        features.shape[1],
        normalise,
        by_frequency,
        threads,
    )
    result = csr_of(start, column, value, columns=features.shape[1])
    if by_frequency:
        result.has_canonical_format = result.has_sorted_indices = False
    return result

"""PIFA: the features of a label are the sum of the features of its texts."""

from __future__ import annotations

from treetop.kernels import _native
from treetop.kernels.rows import csr_of, offsets_of
from treetop.types import CSR

__all__ = ["pifa"]


def pifa(features: CSR, members: CSR, *, normalise: bool = True, threads: int = 1) -> CSR:
    """`members · features`, with rows of length one if `normalise`: labels × features.

    `members` (labels × texts) holds the weight of each text in each label. Labels without texts have an empty row.
    The result is the same for any number of threads.
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
        threads,
    )
    return csr_of(start, column, value, columns=features.shape[1])

"""The definition of the PIFA kernel in numpy."""

from __future__ import annotations

import numpy as np

from treetop.types import CSR

__all__ = ["pifa"]


def pifa(
    features: CSR,
    members: CSR,
    *,
    normalise: bool = True,
    by_frequency: bool = False,
    threads: int = 1,  # noqa: ARG001
) -> CSR:
    """`members · features`, with rows of length one if `normalise`, and with frequent features first if asked."""
    sums = members.toarray().astype(np.float64) @ features.toarray().astype(np.float64)
    if normalise:
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        sums = sums / np.where(lengths > 0, lengths, 1.0)
    if by_frequency:
        sums = sums[:, np.argsort(-np.count_nonzero(sums, axis=0), kind="stable")]
    return CSR(sums.astype(np.float32))

"""The definition of the PIFA kernel in numpy."""

from __future__ import annotations

import numpy as np

from treetop.types import CSR

__all__ = ["pifa"]


def pifa(features: CSR, members: CSR, *, normalise: bool = True, threads: int = 1) -> CSR:  # noqa: ARG001
    """`members · features`, with rows of length one if `normalise`."""
    sums = members.toarray().astype(np.float64) @ features.toarray().astype(np.float64)
    if normalise:
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        sums = sums / np.where(lengths > 0, lengths, 1.0)
    return CSR(sums.astype(np.float32))

"""The definition of the kernels on dense weights, in numpy."""

from __future__ import annotations

import numpy as np

from treetop.kernels.search import Mask
from treetop.types import CSR, Dense, Floats, Ids

__all__ = ["best_nodes", "margins_at"]


def margins_at(states: Dense, weight: Dense, bias: Floats | None, shortlist: CSR, *, threads: int = 1) -> Floats:  # noqa: ARG001
    """Of all margins those at the entries of the shortlist, in their order."""
    texts = np.repeat(np.arange(len(states)), np.diff(shortlist.indptr))
    return _margins(states, weight, bias)[texts, shortlist.indices].astype(np.float32)


def best_nodes(
    states: Dense,
    weight: Dense,
    bias: Floats | None,
    k: int,
    *,
    allowed: Mask | None = None,
    threads: int = 1,  # noqa: ARG001
) -> tuple[Ids, Floats]:
    """All margins sorted, ties by the lower node."""
    margins = np.where(True if allowed is None else allowed, _margins(states, weight, bias), -np.inf)
    best = np.argsort(-margins, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(margins, best, 1)
    return np.where(np.isinf(found), -1, best).astype(np.int32), np.where(np.isinf(found), 0, found).astype(np.float32)


def _margins(states: Dense, weight: Dense, bias: Floats | None) -> np.ndarray:
    margins = states.astype(np.float64) @ weight.T.astype(np.float64)
    return margins if bias is None else margins + bias

"""The definition of the kernel that counts label names into scores, in numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treetop.types import CSR, Floats, Ids

__all__ = ["rank_by_names"]


def rank_by_names(
    terms: CSR,
    listed: Ids,
    scores: Floats,
    names: tuple[NDArray[np.int64], Ids, Floats],
    worth: Floats,
    *,
    power: int = 1,
    floor: float,
    k: int,
    allowed: NDArray[np.bool_] | None = None,
) -> tuple[Ids, Floats]:
    """Text by text: the shares of all names, then the scores of all labels that are listed or named, then the best."""
    start, label, share = names
    labels, values = np.full((len(listed), k), -1, np.int32), np.zeros((len(listed), k), np.float32)
    for row in range(len(listed)):
        shares = np.zeros(len(worth), np.float32)
        for term in terms.indices[terms.indptr[row] : terms.indptr[row + 1]]:
            part = slice(start[term], start[term + 1])
            shares[label[part]] += share[part]
        own = np.full(len(worth), floor, np.float32)
        known = listed[row] >= 0
        own[listed[row][known]] = scores[row][known]
        named = (shares > 0) & (worth > 0) & (True if allowed is None else allowed)
        named[listed[row][known]] = True
        found = np.flatnonzero(named)
        value = own[found] + worth[found] * shares[found] ** power
        best = np.lexsort((found, -value))[:k]
        labels[row, : len(best)], values[row, : len(best)] = found[best], value[best]
    return labels, values

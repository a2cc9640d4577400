"""Isotonic regression: the rising map from scores to the share of labels that are true.

With scores in rising order and y = 1 for labels that are true, the values are the rising ones that minimise
Σ (value_i - y_i)²; they are found by pooling adjacent violators (Ayer et al. 1955; for calibration Zadrozny and Elkan,
KDD 2002). Scores are first joined into groups of twenty neighbours, so that no value rests on a handful of labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treetop.types import Floats

__all__ = ["GROUP", "pooled", "rising_map"]

GROUP = 20
"""Labels whose scores are neighbours and that count as one."""

Doubles = NDArray[np.float64]


def rising_map(scores: NDArray[np.float32], hits: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Knots, strictly rising, and their values, never falling; between knots the map is a straight line."""
    means, shares, sizes = _groups(scores.astype(np.float64), hits)
    values = pooled(shares, sizes)
    inside = np.append(False, values[1:] == values[:-1]) & np.append(values[1:] == values[:-1], False)
    knots, first = np.unique(means[~inside].astype(np.float32), return_index=True)
    return knots, values[~inside][first].astype(np.float32)


def pooled(values: Doubles, weights: Doubles) -> Doubles:
    """The rising values closest to the given ones by weighted least squares."""
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        members = 1
        while pools and pools[-1][0] >= value:
            mean, other, more = pools.pop()
            value = (mean * other + value * weight) / (other + weight)
            weight, members = weight + other, members + more
        pools.append((value, weight, members))
    means, _, members_of = zip(*pools, strict=True) if pools else ((), (), ())
    return np.repeat(np.array(means, np.float64), np.array(members_of, np.int64))


def _groups(scores: Doubles, hits: NDArray[np.bool_]) -> tuple[Doubles, Doubles, Doubles]:
    """Mean score, share of hits and size of each group; equal scores are never in two of them."""
    order = np.argsort(scores, kind="stable")
    scores, hits = scores[order], hits[order]
    _, first, again = np.unique(scores, return_index=True, return_inverse=True)
    group = np.minimum(first // GROUP, max(len(scores) // GROUP - 1, 0))[again]
    _, group = np.unique(group, return_inverse=True)
    sizes = np.bincount(group).astype(np.float64)
    means, shares = np.bincount(group, weights=scores) / sizes, np.bincount(group, weights=hits) / sizes
    return means, shares, sizes

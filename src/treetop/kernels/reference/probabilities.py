"""The definition of the kernel that makes probabilities, in numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treetop.types import Floats, Ids

__all__ = ["falling", "probabilities"]


def probabilities(
    labels: Ids,
    scores: Floats,
    band: NDArray[np.uint8],
    curves: tuple[NDArray[np.int64], Floats, Floats, Floats],
) -> Floats:
    """Each score through the curve of its label's band; then each list as the closest that never rises."""
    start, knot, value, weight = curves
    found = np.zeros(labels.shape, np.float64)
    for number in range(len(start) - 1):
        here = (labels >= 0) & (band[np.maximum(labels, 0)] == number)
        part = slice(start[number], start[number + 1])
        found[here] = np.interp(scores[here], knot[part], value[part])
    weights = weight[band[np.maximum(labels, 0)]].astype(np.float64)
    for row, own, count in zip(found, weights, (labels >= 0).sum(axis=1), strict=True):
        row[:count] = falling(row[:count], own[:count])
    return found.astype(np.float32)


def falling(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pool adjacent violators: at each place the lowest over earlier starts of the highest mean up to a later end."""
    size = len(values)
    total, weight = (np.concatenate([[0.0], np.cumsum(part)]) for part in (values * weights, weights))
    return np.array([
        min(max((total[end] - total[first]) / (weight[end] - weight[first]) for end in range(place + 1, size + 1))
            for first in range(place + 1))
        for place in range(size)
    ])  # fmt: skip

"""Bands of labels by how often they were seen in training: the same score means less for a rare label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treetop.types import Ids

__all__ = ["EDGES", "band_of", "edges_with_enough"]

EDGES = (0, 3, 10, 30, 100, 300)
"""The largest number of training texts of a label in each band but the last, which has no limit.

Labels without any, which are found by their names, are a band of their own: such scores mean something else."""
_FEWEST_HITS = 20  # of a band on its own; with fewer its map would be made of chance


def band_of(frequency: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The number of each label's band."""
    return np.searchsorted(edges, frequency).astype(np.uint8)


def edges_with_enough(labels: Ids, hits: NDArray[np.bool_], frequency: NDArray[np.int64]) -> NDArray[np.int64]:
    """Edges between bands that have enough suggested labels, right and wrong; scarce bands join the next common one."""
    band = np.searchsorted(EDGES, frequency[labels])
    right = np.bincount(band, weights=hits, minlength=len(EDGES) + 1)
    wrong = np.bincount(band, weights=~hits, minlength=len(EDGES) + 1)
    kept, evidence = [], 0.0
    for edge, enough in zip(EDGES, np.minimum(right, wrong).tolist(), strict=False):
        evidence += enough
        if evidence >= _FEWEST_HITS:
            kept.append(edge)
            evidence = 0.0
    last = min(right[len(EDGES)], wrong[len(EDGES)]) + evidence
    return np.array(kept[:-1] if kept and last < _FEWEST_HITS else kept, np.int64)

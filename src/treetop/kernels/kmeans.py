"""k-means on label features: whole balanced trees, and single levels of unbalanced ones.

Both take a sparse block, a dense block, or both (side by side, as in `sparse.Joined`), and give the same result for
any number of threads: each node draws its random numbers from the seed and its own place in the tree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treetop.kernels import _native
from treetop.kernels.rows import offsets_of
from treetop.types import CSR, Dense, Floats, Ids

__all__ = ["kmeans_split", "kmeans_tree"]


def kmeans_tree(
    sparse: CSR | None,
    dense: Dense | None,
    *,
    depth: int,
    max_iter: int = 20,
    tolerance: float = 1e-6,
    spherical: bool = True,
    seed: int = 0,
    threads: int = 1,
) -> tuple[Ids, NDArray[np.int64]]:
    """Halve the labels `depth` times by balanced 2-means (Prabhu et al., Parabel, WWW 2018).

    Two random labels are the first centres. In each iteration label z has the score <z, right> - <z, left>; the lower
    half goes left and the upper half right (ties: lower label number first), and centres become the sums of their
    labels, scaled to length one (`spherical`) or to the mean. It ends after `max_iter` assignments, when no label
    changed sides, or when the mean similarity of labels to their centres grew by less than `tolerance`.
    A node of 2048 labels or more does this with a sample first, of 512, 2048, … labels spread evenly over its own; each
    larger sample, and at last the whole node, goes on from the centres of the one before. The first sample is halved
    from one pair of labels per 1024 of the node, at most eight, and the halves of highest similarity go on: else what
    is near the root would be a matter of luck.

    Returns the labels ordered by leaf, then number, and the 2^depth + 1 bounds of the leaves (some may be empty).
    """
    return _native.kmeans_tree(*_blocks(sparse, dense), depth, max_iter, tolerance, spherical, seed, threads)


def kmeans_split(
    sparse: CSR | None,
    dense: Dense | None,
    *,
    order: Ids,
    bounds: NDArray[np.int64],
    ways: int,
    level: int,
    max_iter: int = 20,
    tolerance: float = 1e-6,
    spherical: bool = True,
    seed: int = 0,
    threads: int = 1,
) -> Ids:
    """Split each node `order[bounds[j]:bounds[j+1]]` of a level by k-means with up to `ways` centres.

    The first centres are distinct random labels; a label goes to the centre of the highest cosine (`spherical`) or the
    least distance, ties to the lower centre. It ends as in `kmeans_tree`. Centres that end up empty are dropped.

    Returns for each entry of `order` the number of its child within its node: 0, 1, 2, … without gaps.
    """
    return _native.kmeans_split(
        *_blocks(sparse, dense), order, bounds, ways, level, max_iter, tolerance, spherical, seed, threads
    )


def _blocks(sparse: CSR | None, dense: Dense | None) -> tuple[NDArray[np.int64], Ids, Floats, int, Dense]:
    """The five arguments that every native k-means takes; an absent block is an empty one."""
    if sparse is None:
        labels = 0 if dense is None else len(dense)
        starts = np.zeros(labels + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32), 0
        return *starts, np.empty((labels, 0), np.float32) if dense is None else dense
    if dense is None:
        dense = np.empty((sparse.shape[0], 0), np.float32)
    indices = np.ascontiguousarray(sparse.indices, np.int32)
    return offsets_of(sparse), indices, sparse.data, sparse.shape[1], dense

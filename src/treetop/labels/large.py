"""A tree of labels whose features are more than memory should hold.

A label's features are a sum over its texts (PIFA), of which the upper halvings need two things only, and both follow
from the texts: how similar labels are to a direction d, and the sum of some labels' features, with lengths n,

    scores  z·d = (Y'ᵀ (X d)) / n          centre  Σ z = Xᵀ (Y' (1/n))

X texts × features, Y' texts × labels, weighted. That reads each text once where the sums would be read 10 times and
more. Below, branch by branch, the features of the labels are few enough to be made, halved natively and let go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treetop import kernels
from treetop.labels.kmeans import TreeConfig, balanced_tree, balanced_widths, grow_tree
from treetop.labels.tree import LabelTree
from treetop.pieces import runs_of
from treetop.runtime import cores_of
from treetop.sparse import canonical, normalise
from treetop.types import CSR, Floats, Ids

__all__ = ["grow_from_texts", "most_entries"]

_MOST = 1 << 28  # Entries of label features that are held at once: 2 GiB.
_SAMPLE = 1 << 14  # Labels whose halves are the first centres.
_SEEDS = 2**62


def most_entries(features: CSR, labels: CSR) -> int:
    """How many entries the features of all labels can have together."""
    return int(np.diff(labels.indptr).astype(np.int64) @ np.diff(features.indptr))


def grow_from_texts(
    features: CSR, labels: CSR, config: TreeConfig, *, normalise_labels: bool = True, seed: int, threads: int = 0
) -> LabelTree:
    """The tree of labels by PIFA; of very many label features, the upper halvings of a balanced tree never hold them.

    Whether they do follows from the data alone, so the tree is the same on every machine.
    """
    entries, cores = most_entries(features, labels), cores_of(threads)
    members = canonical((normalise(labels) if normalise_labels else labels).T)
    if entries <= _MOST or config.kind != "balanced" or not config.spherical or config.truncate:
        in_order = config.truncate > 0  # ties are cut by the number of a feature
        whole = kernels.pifa(features, members, by_frequency=not in_order, threads=cores)
        return grow_tree(whole, config, seed=seed, threads=threads)
    sums = _Sums.of(features, members, cores)
    depth = balanced_widths(labels.shape[1], config)[-1].bit_length() - 1
    top = min(depth, int(np.ceil(np.log2(entries / _MOST))))
    branches = [np.arange(labels.shape[1], dtype=np.int32)]
    for _ in range(top):
        branches = [half for branch in branches for half in sums.halve(branch, config, seed)]
    order, sizes = [], []
    for number, branch in enumerate(branches):
        own, bounds = sums.split(branch, config, (seed + 7919 * (number + 1)) % _SEEDS, depth - top)
        order.append(branch[own])
        sizes.append(np.diff(bounds))
    bounds = np.append(0, np.cumsum(np.concatenate(sizes)))
    return balanced_tree(np.concatenate(order), bounds, balanced_widths(labels.shape[1], config))


@dataclass(frozen=True, slots=True)
class _Sums:
    """Label features that are not there."""

    features: CSR
    members: CSR
    """Labels × texts."""
    shares: Floats
    """One by the length of each label's features; 0 without any."""
    threads: int

    @classmethod
    def of(cls, features: CSR, members: CSR, threads: int) -> _Sums:
        """With the lengths, for which the features are made once, some labels at a time."""
        sizes = np.diff(features.indptr)
        starts = np.append(0, np.cumsum(sizes[members.indices], dtype=np.int64))[members.indptr]
        squares = [
            kernels.squared_lengths(
                kernels.pifa(features, members[first:last], normalise=False, threads=threads), threads=threads
            )
            for first, last in runs_of(starts, max(1, _MOST // 4))
        ]
        lengths = np.sqrt(np.concatenate(squares))
        shares = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return cls(features, members, shares.astype(np.float32), threads)

    def split(self, labels: Ids, config: TreeConfig, seed: int, depth: int) -> tuple[Ids, NDArray[np.int64]]:
        """Labels as numbers within those given, leaf by leaf, and the bounds of the leaves."""
        own = kernels.pifa(self.features, self.members[labels], by_frequency=True, threads=self.threads)
        return kernels.kmeans_tree(
            own, None, depth=depth, max_iter=config.max_iter, tolerance=config.tolerance, spherical=True, seed=seed,
            threads=self.threads,
        )  # fmt: skip

    def halve(self, labels: Ids, config: TreeConfig, seed: int) -> tuple[Ids, Ids]:
        """Two halves of similar labels: from those of a sample, by balanced 2-means over all."""
        step, members, shares = -(-len(labels) // _SAMPLE), self.members[labels], self.shares[labels]
        order, bounds = self.split(labels[::step], config, seed, 1)
        right = np.zeros(len(labels), bool)
        right[::step][order[bounds[1] :]] = True
        left = np.zeros(len(labels), bool)
        left[::step][order[: bounds[1]]] = True
        whole = self._sum(members, shares)
        upper, lower, before = self._sum(members, shares * right), self._sum(members, shares * left), -1.0
        for _ in range(config.max_iter):
            scores = members @ (self.features @ (_unit(upper) - _unit(lower))) * shares
            right[:] = True
            right[np.argsort(scores, kind="stable")[: len(labels) // 2]] = False
            upper = self._sum(members, shares * right)
            lower = whole - upper
            similarity = (_length(lower) + _length(upper)) / len(labels)
            if similarity - before < config.tolerance:
                break
            before = similarity
        return labels[~right], labels[right]

    def _sum(self, members: CSR, weights: Floats) -> Floats:
        """The weighted sum of the features of labels with these texts."""
        return np.asarray(self.features.T @ (members.T @ weights.astype(np.float32)), np.float32)


def _unit(centre: Floats) -> Floats:
    length = _length(centre)
    return np.asarray(centre / length, np.float32) if length > 0 else centre


def _length(centre: Floats) -> float:
    return float(np.sqrt(np.sum(np.square(centre, dtype=np.float64))))

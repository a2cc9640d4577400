"""Growing a label tree: recursive balanced 2-means, or unbalanced k-means as in Bonsai."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treetop import kernels
from treetop.errors import ConfigError, DataError
from treetop.labels.representation import unit_rows
from treetop.labels.tree import LabelTree
from treetop.runtime import cores_of
from treetop.sparse import AnyFeatures, Joined, check_features, top_k
from treetop.types import CSR, Dense, Ids

__all__ = ["TreeConfig", "balanced_tree", "balanced_widths", "grow_tree"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeConfig:
    """The shape of a label tree and how its nodes are split.

    "balanced": labels are halved again and again (Parabel) until leaves hold at most `max_leaf`; levels above join
    `branching` neighbouring nodes each until at most `top_width` are left (PECOS), or are exactly `widths`.
    "kmeans": every node with more than `max_leaf` labels is split by k-means into up to `branching` nodes of any size,
    over at most `max_depth` levels (Bonsai).
    """

    kind: Literal["balanced", "kmeans"] = "balanced"
    """How nodes are split: halves of equal size, or k-means clusters of any size."""
    max_leaf: int = 100
    """Most labels below a node of the last inner level."""
    branching: int = 16
    """Children of a node; for "kmeans" the most there may be (Bonsai: 100)."""
    top_width: int = 0
    """Balanced: coarser levels are added until one has at most this many nodes; 0 means `branching`."""
    widths: tuple[int, ...] = ()
    """Balanced: nodes of each inner level, powers of two, coarsest first, as (16, 256); replaces the three above."""
    max_depth: int = 3
    """K-means: most levels, the labels included."""
    max_iter: int = 20
    """Most assignments of labels to centres in one split, or in each sample that it begins with."""
    tolerance: float = 1e-6
    """A split ends when the mean similarity of labels to their centres grows by less than this."""
    spherical: bool = True
    """Compare by cosine, with centres of length one; otherwise by Euclidean distance to the mean."""
    truncate: int = 0
    """Features of highest value kept of each label while growing, in the sparse block; 0 keeps all."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", tuple(self.widths))
        if self.kind not in ("balanced", "kmeans"):
            raise ConfigError(f"kind is {self.kind!r}; choose 'balanced' or 'kmeans'")
        least = {"max_leaf": 1, "branching": 2, "top_width": 0, "max_depth": 1, "max_iter": 1, "truncate": 0}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise ConfigError(f"{name} is {getattr(self, name)}; give a whole number of at least {value}")
        if not 0 <= self.tolerance < 1:
            raise ConfigError(f"tolerance is {self.tolerance}; give a number from 0 to below 1")
        for width, above in zip(self.widths, (0, *self.widths), strict=False):
            if width < 1 or width & (width - 1) or width <= above:
                raise ConfigError(f"widths are {self.widths}; give powers of two, each larger than the one before")
        if self.widths and self.kind != "balanced":
            raise ConfigError("widths can be given for balanced trees only; use branching and max_depth instead")


def grow_tree(representation: AnyFeatures, config: TreeConfig, *, seed: int, threads: int = 0) -> LabelTree:
    """A tree that puts labels of similar features together; the same for any number of threads.

    Levels as wide as the labels are left out: they would give every label a node of its own twice. In a tree whose
    branches end at different depths ("kmeans") the short ones go on through nodes with a single child, so that all
    labels are at the last level. Labels with a zero row have a place like all others.
    """
    check_features(representation, what="the label representation")
    if not representation.shape[0]:
        raise DataError("there are no labels to grow a tree of")
    sparse, dense = _prepare(representation, config)
    cores = cores_of(threads)
    grow = _grow_balanced if config.kind == "balanced" else _grow_unbalanced
    return grow(sparse, dense, representation.shape[0], config, seed, cores)


def _prepare(representation: AnyFeatures, config: TreeConfig) -> tuple[CSR | None, Dense | None]:
    """The blocks of the representation, cut and scaled as the configuration asks."""
    if config.truncate and isinstance(representation, Joined):
        representation = Joined(top_k(representation.sparse, config.truncate), representation.dense)
    elif config.truncate and isinstance(representation, CSR):
        representation = top_k(representation, config.truncate)
    if config.spherical:
        representation = unit_rows(representation)
    if isinstance(representation, Joined):
        return representation.sparse, np.ascontiguousarray(representation.dense)
    if isinstance(representation, np.ndarray):
        return None, np.ascontiguousarray(representation, np.float32)
    return representation, None


def _grow_balanced(
    sparse: CSR | None, dense: Dense | None, labels: int, config: TreeConfig, seed: int, cores: int
) -> LabelTree:
    widths = balanced_widths(labels, config)
    if not widths:
        return LabelTree((np.zeros(labels, np.int32),))
    order, bounds = kernels.kmeans_tree(
        sparse,
        dense,
        depth=widths[-1].bit_length() - 1,
        max_iter=config.max_iter,
        tolerance=config.tolerance,
        spherical=config.spherical,
        seed=seed,
        threads=cores,
    )
    return balanced_tree(order, bounds, widths)


def balanced_tree(order: Ids, bounds: NDArray[np.int64], widths: tuple[int, ...]) -> LabelTree:
    """The tree of labels in the order of leaves that end at `bounds`, with inner levels of some widths."""
    labels = len(order)
    leaf = np.empty(labels, np.int32)
    leaf[order] = np.repeat(np.arange(widths[-1], dtype=np.int32), np.diff(bounds))
    codes = [leaf]
    for above, width in reversed(list(pairwise(widths))):
        codes.insert(0, codes[0] // -(-width // above))  # a coarser node owns a run of neighbouring nodes
    kept = [code for code, width in zip(codes, widths, strict=True) if width < labels]
    return LabelTree.from_codes(_table(kept, labels))


def balanced_widths(labels: int, config: TreeConfig) -> tuple[int, ...]:
    """Nodes of each inner level of a balanced tree, coarsest first."""
    if config.widths:
        return config.widths
    if labels <= config.max_leaf:
        return ()
    leaves = -(-labels // config.max_leaf)
    widths = [1 << (leaves - 1).bit_length()]
    while widths[0] > (config.top_width or config.branching):
        widths.insert(0, -(-widths[0] // config.branching))
    return tuple(widths)


def _table(codes: list[Ids], labels: int) -> NDArray[np.int32]:
    """Labels × levels, also if there is no level."""
    return np.stack(codes, axis=1) if codes else np.empty((labels, 0), np.int32)


def _grow_unbalanced(
    sparse: CSR | None, dense: Dense | None, labels: int, config: TreeConfig, seed: int, cores: int
) -> LabelTree:
    node = np.zeros(labels, np.int64)
    codes: list[Ids] = []
    for level in range(config.max_depth - 1):
        sizes = np.bincount(node)
        order = np.argsort(node, kind="stable").astype(np.int32)
        order = order[sizes[node[order]] > config.max_leaf]
        child = np.zeros(labels, np.int32)
        child[order] = kernels.kmeans_split(
            sparse,
            dense,
            order=order,
            bounds=np.concatenate([[0], np.cumsum(sizes[sizes > config.max_leaf])]),
            ways=config.branching,
            level=level,
            max_iter=config.max_iter,
            tolerance=config.tolerance,
            spherical=config.spherical,
            seed=seed,
            threads=cores,
        )
        node = np.unique(node * labels + child, return_inverse=True)[1]
        if node.max() + 1 in (len(sizes), labels):  # nothing was split, or every label is alone
            break
        codes.append(child)
    return LabelTree.from_codes(_table(codes, labels))

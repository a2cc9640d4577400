"""A label tree with linear classifiers at every node: training level by level, and beam search.

The score of a label is the product over its path of link(margin); the search keeps the `beam` best nodes of each level
and looks only at their children (Prabhu et al., Parabel, WWW 2018; Yu et al., PECOS, JMLR 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from treetop import kernels
from treetop.errors import ConfigError, DataError, StoreError
from treetop.kernels import Combine, Link, WeightType
from treetop.labels import LabelTree
from treetop.linear.level import LinearLevel, NodeMargin, SolverConfig, everyone
from treetop.predictions import Kind, Predictions, check_k
from treetop.runtime import Runtime
from treetop.sparse import AnyFeatures, binarise, dense_block, normalise, sparse_block, union
from treetop.store import Folder
from treetop.types import CSR

__all__ = ["LinearTree", "LinearTreeConfig", "SearchConfig", "reach"]

_NONE = np.empty(0, np.int32)
_NOTHING = np.empty(0, np.float32)


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchConfig:
    """How labels are found and scored."""

    beam: int = 10
    """Nodes kept after each level; more is slower and finds more."""
    link: Link = "l3-hinge"
    """From a margin v to a score: noop v, sigmoid 1/(1+exp(-v)), lp-hinge exp(-max(0, 1-v)^p)."""
    leaf_link: Link | None = None
    """The link of the last level, if another one."""
    combine: Combine = "multiply"
    """A label's score: the product over its path, or its own alone with the path used only to find it."""

    def __post_init__(self) -> None:
        if self.beam < 1:
            raise ConfigError(f"search.beam is {self.beam}; keep at least one node")
        if self.combine == "multiply" and "noop" in (self.link, self.leaf_link):
            raise ConfigError("search.combine 'multiply' needs scores in (0, 1]; choose another link than 'noop'")


@dataclass(frozen=True, kw_only=True, slots=True)
class LinearTreeConfig:
    """How a tree of classifiers is trained."""

    solver: SolverConfig = field(default_factory=SolverConfig)
    """The problem of each node."""
    search: SearchConfig = field(default_factory=SearchConfig)
    """Search, in training (matcher-aware negatives) and by default in prediction."""
    negatives: Literal["teacher", "matcher", "both"] = "teacher"
    """On whose shortlist a node is: texts with a true label under its parent, texts that reach it, or both."""
    relevance: Literal["off", "count", "labels"] = "off"
    """Costs of positives: equal, induced from how many true labels a node holds, or from the labels' own weights."""
    relevance_norm: Literal["l1", "none"] = "l1"
    """Scale each text's costs of one level to sum to one, as XR-Transformer does."""
    weights: WeightType = "float16"
    """How weights are stored; float16 costs nothing measurable, int8 at most a few hundredths of a point."""


class LinearTree:
    """Classifiers for every node of a label tree."""

    def __init__(self, tree: LabelTree, levels: Sequence[LinearLevel], search: SearchConfig) -> None:
        self.tree = tree
        self.levels = list(levels)
        self.search = search
        self._kind: Kind = "margin" if (search.leaf_link or search.link) == "noop" else "score"
        files = [level.file for level in self.levels]
        self._searcher = kernels.Searcher([level.arrays for level in self.levels], files=files)

    @classmethod
    def fit(
        cls,
        features: AnyFeatures,
        labels: CSR,
        tree: LabelTree,
        config: LinearTreeConfig | None = None,
        *,
        matched: CSR | None = None,
        runtime: Runtime | None = None,
    ) -> LinearTree:
        """Train all levels, coarse to fine.

        `matched` (texts × nodes above the labels) adds to the last level's shortlist what another matcher found.
        """
        config, runtime = config or LinearTreeConfig(), runtime or Runtime()
        if labels.shape[1] != tree.widths[-1]:
            raise DataError(f"the labels have {labels.shape[1]} columns and the tree {tree.widths[-1]} labels")
        levels: list[LinearLevel] = []
        true = root = everyone(features.shape[0])
        found: CSR | None = None
        for level in range(tree.levels):
            costs = _costs(labels, tree, level, config)
            shortlist = _shortlist(true, root if found is None else found, config.negatives)
            if matched is not None and level == tree.levels - 1:
                shortlist = union(binarise(shortlist), binarise(matched))
            levels.append(
                LinearLevel.fit(
                    features, costs, shortlist, tree.parents[level], config.solver,
                    costs=config.relevance != "off", weights=config.weights, runtime=runtime,
                    title=f"train level {level}",
                )
            )  # fmt: skip
            true = binarise(costs)
            if config.negatives != "teacher" and level < tree.levels - 1:
                found = reach(levels[-1], features, found, config.search, runtime)
        return cls(tree, levels, config.search)

    def predict(
        self,
        features: AnyFeatures,
        k: int = 10,
        *,
        beam: int | None = None,
        allowed: ArrayLike | None = None,
        runtime: Runtime | None = None,
    ) -> Predictions:
        """The k best labels of each text; `beam` replaces the configured one. Ties: by margin, then by label.

        `allowed` are the numbers of labels to choose from. The search looks only at nodes above them, so it finds them
        with a beam that would lose them among all labels; their scores stay what they are.
        """
        check_k(k)
        self._check_width(features)
        how = self.search
        beams = [beam or how.beam] * (len(self.levels) - 1)
        masks = None if allowed is None else self.tree.branches(allowed)
        sparse, dense = sparse_block(features), dense_block(features)
        if features.shape[0] == 1:  # A single text has a path of its own: no grouping, no threads.
            labels, scores = self._searcher.search_one(
                _NONE if sparse is None else sparse.indices,
                _NOTHING if sparse is None else sparse.data,
                None if dense is None else dense[0],
                beams=beams, k=k, link=how.link, leaf_link=how.leaf_link, combine=how.combine, allowed=masks,
            )  # fmt: skip
            return Predictions(labels.reshape(1, -1), scores.reshape(1, -1), kind=self._kind)
        labels, scores = self._searcher.search(
            sparse, dense, beams=beams, k=k, link=how.link, leaf_link=how.leaf_link, combine=how.combine, allowed=masks,
            threads=(runtime or Runtime()).cores,
        )  # fmt: skip
        return Predictions(labels, scores, kind=self._kind)

    def margins(self, features: AnyFeatures, label: int) -> list[NodeMargin]:
        """The margins on the path to a label for the first of some texts, taken apart, coarse to fine."""
        self._check_width(features)
        path = self.tree.path(label)
        steps = zip(self.levels, path, [0, *path], strict=False)
        return [level.margin_of(node, features, parent) for level, node, parent in steps]

    @property
    def weights(self) -> int:
        """Weights kept, in all levels."""
        return sum(level.weights for level in self.levels)

    @property
    def stored_bytes(self) -> int:
        """Bytes of the classifiers, as they are stored."""
        return sum(array.nbytes for level in self.levels for array in level.arrays.values())

    def save(self, folder: Folder) -> None:
        """Write the tree and its levels."""
        self.tree.save(folder)
        for number, level in enumerate(self.levels):
            level.save(folder, f"level-{number}")

    @classmethod
    def load(cls, folder: Folder, search: SearchConfig) -> LinearTree:
        """Map a saved tree; nothing is read before it is needed."""
        tree = LabelTree.load(folder)
        levels = [LinearLevel.load(folder, f"level-{n}") for n in range(tree.levels)]
        for level, width, above in zip(levels, tree.widths, (1, *tree.widths), strict=False):
            _check_fit(level, nodes=width, parents=above)
        return cls(tree, levels, search)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied as its parts: the native search is made anew from them."""
        return type(self), (self.tree, self.levels, self.search)

    def _check_width(self, features: AnyFeatures) -> None:
        expected, given = self._searcher.width, features.shape[1]
        if expected is not None and given != expected:
            raise DataError(
                f"the features have {given} columns, the model was trained on {expected}; use the same tf-idf"
            )


def _check_fit(level: LinearLevel, *, nodes: int, parents: int) -> None:
    """Refuse a level of another tree; with distinct nodes, which the search asks for, it then has all of them."""
    largest = int(level.arrays["children"].max(initial=-1))
    if (level.nodes, level.parents) != (nodes, parents) or largest >= nodes:
        raise StoreError(
            f"the level has {level.nodes} nodes up to number {largest} under {level.parents} parents, the tree {nodes} "
            f"under {parents}; the files do not belong together, restore them or train again",
            path=level.file or "",
        )


def _shortlist(true: CSR, found: CSR, negatives: str) -> CSR:
    if negatives == "both":
        return union(true, found)
    return true if negatives == "teacher" else found


def reach(level: LinearLevel, features: AnyFeatures, found: CSR | None, search: SearchConfig, runtime: Runtime) -> CSR:
    """The best nodes of a level among the children of those found above, with the logarithms of their scores.

    Inner nodes rank by their whole path, as in prediction: `search.combine` is about labels only. Margins (noop) do not
    add up to anything, so they rank by their own.
    """
    margins = search.link == "noop"
    return level.score(
        features, found, link=search.link, combine="last" if margins else "multiply",
        keep=search.beam, log=not margins, runtime=runtime,
    )  # fmt: skip


def _costs(labels: CSR, tree: LabelTree, level: int, config: LinearTreeConfig) -> CSR:
    """True nodes of a level, with what an error on them costs: R_t = R_{t+1} C_{t+1} (XR-Transformer eq. 6)."""
    found = tree.lift(labels if config.relevance == "labels" else binarise(labels), level)
    scale = config.relevance != "off" and config.relevance_norm == "l1"
    return normalise(found, "l1") if scale else found

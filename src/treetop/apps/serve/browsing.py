"""The label tree as a person walks through it: the children of a node, each with its most frequent labels."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treetop.apps.serve.messages import Node, Tree
from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.problems import ProblemError
from treetop.labels import LabelTree

__all__ = ["TreeBrowser"]

_EXAMPLES = 5


class TreeBrowser:
    """The tree of a model; a node is called by its level and number, as `2-17`."""

    def __init__(self, model: ServedModel) -> None:
        self.model, self.tree = model, model.tree

    @cached_property
    def _above(self) -> list[NDArray[np.int64]]:
        """For each level, the node above each label."""
        above = [np.arange(self.tree.widths[-1])]
        for parents in reversed(self.tree.parents[1:]):
            above.append(np.asarray(parents, np.int64)[above[-1]])
        return above[::-1]

    @cached_property
    def _by_frequency(self) -> NDArray[np.int64]:
        trained = np.asarray(self.model.model.frequency)[: self.tree.widths[-1]]  # others are known by name only
        return np.argsort(-trained, kind="stable")

    def children(self, node: str | None, limit: int, offset: int) -> Tree:
        """The children of a node, of the root if None, the largest first; labels by their frequency."""
        level, number = self._place(node)
        last = level + 1 == self.tree.levels - 1
        below = np.flatnonzero(self.tree.parents[level + 1] == number)
        sizes = np.bincount(self._above[level + 1], minlength=self.tree.widths[level + 1])[below]
        weight = np.asarray(self.model.model.frequency)[below] if last else sizes
        order = np.argsort(-weight, kind="stable")[offset : offset + limit]
        nodes = [self._node(level + 1, int(below[at]), int(sizes[at])) for at in order]
        return Tree(node, self._parent(level, number), len(below), nodes)

    def _node(self, level: int, number: int, size: int) -> Node:
        if level == self.tree.levels - 1:
            return Node(None, 1, [self.model.label(number)])
        labels = self._by_frequency[self._above[level][self._by_frequency] == number][:_EXAMPLES]
        return Node(f"{level}-{number}", size, [self.model.label(int(label)) for label in labels])

    def _parent(self, level: int, number: int) -> str | None:
        return f"{level - 1}-{self.tree.parents[level][number]}" if level > 0 else None

    def _place(self, node: str | None) -> tuple[int, int]:
        if node is None:
            return -1, 0
        level, _, number = node.partition("-")
        if level.isdecimal() and number.isdecimal() and len(node) < 20 and _exists(self.tree, int(level), int(number)):
            return int(level), int(number)
        raise ProblemError(404, "there is no such node in the label tree", field="node")


def _exists(tree: LabelTree, level: int, number: int) -> bool:
    return level < tree.levels - 1 and number < tree.widths[level]

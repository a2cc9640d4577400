"""The label tree: labels in ever coarser nodes, and the algebra that every method walks it with.

| papers              | here                                   |
|---------------------|----------------------------------------|
| C (cluster matrix)  | `tree.membership(level)`               |
| Y·C (indexed truth) | `tree.lift(labels, level)`             |
| S·Cᵀ (children)     | `tree.expand(nodes, level)`            |
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treetop.errors import ConfigError, DataError, StoreError
from treetop.sparse import canonical, from_parts
from treetop.store import Folder
from treetop.types import CSR, Ids

__all__ = ["LabelTree", "children_of"]

_FILE = "tree.safetensors"


@dataclass(frozen=True, slots=True, eq=False)
class LabelTree:
    """Labels in ever coarser nodes. Level 0 is the coarsest; the last level is the labels themselves.

    `parents[t][node]` is the parent, at level t-1, of a node of level t; level 0's parent is the root, number 0.
    Every label is at the last level, every node has a child, and the children of one parent have neighbouring
    numbers, except at the last level, where a node's number is its label's.

    Examples
    --------
    >>> tree = LabelTree.from_groups([[0, 3], [1, 2]])
    >>> tree.widths
    (2, 4)
    >>> tree.parents[-1].tolist()
    [0, 1, 1, 0]
    """

    parents: tuple[Ids, ...]

    def __post_init__(self) -> None:
        parents = tuple(np.ascontiguousarray(level, np.int32) for level in self.parents)
        object.__setattr__(self, "parents", parents)
        _check(parents)
        for level, above in enumerate(parents[:-1]):
            if np.any(np.diff(above) < 0):
                raise DataError(f"level {level} does not keep children of one parent together; use from_parents")

    @classmethod
    def from_parents(cls, parents: Sequence[ArrayLike]) -> LabelTree:
        """A tree given by hand, coarsest level first; its inner nodes are renumbered by their place in the tree.

        `parents[t][node]` is the parent at level t-1 of a node of level t; `parents[0]` is all zeros, for the root.
        """
        given = tuple(_as_ids(level, number) for number, level in enumerate(parents))
        _check(given)
        ordered: list[Ids] = []
        new_number = np.zeros(1, np.int32)
        for level in given[:-1]:
            above = new_number[level]
            order = np.argsort(above, kind="stable")
            new_number = np.empty(len(level), np.int32)
            new_number[order] = np.arange(len(level), dtype=np.int32)
            ordered.append(above[order])
        return cls((*ordered, new_number[given[-1]]))

    @classmethod
    def flat(cls, labels: int) -> LabelTree:
        """The labels alone, all below the root."""
        return cls((np.zeros(labels, np.int32),))

    @classmethod
    def from_groups(cls, groups: Sequence[Sequence[int]]) -> LabelTree:
        """Two levels: groups of label numbers, each label in exactly one group."""
        labels = np.array([label for group in groups for label in group], np.int64)
        owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        counts = np.bincount(labels, minlength=len(labels)) if len(labels) and labels.min() >= 0 else np.zeros(1)
        if len(labels) and (len(counts) != len(labels) or np.any(counts != 1)):
            wrong = int(np.flatnonzero(counts != 1)[0])
            raise DataError(f"label {wrong} is in {int(counts[wrong])} groups; put every label in exactly one")
        parent = np.empty(len(labels), np.int32)
        parent[labels] = owner
        return cls.from_parents([np.zeros(len(groups), np.int32), parent])

    @classmethod
    def from_paths(cls, paths: Sequence[Sequence[Hashable]]) -> LabelTree:
        """A tree from the path of each label, coarsest part first, such as ("law", "tax") or the digits of a code.

        A path may be shorter than others, or empty: it goes on through nodes with a single child, so that all labels
        are at the last level. Labels of equal paths share the last inner node.
        """
        depth = max((len(path) for path in paths), default=0)
        numbers: list[dict[tuple[Hashable, ...], int]] = [{} for _ in range(depth)]
        codes = np.zeros((len(paths), depth), np.int32)
        for label, path in enumerate(paths):
            for level in range(depth):
                # A tuple that is cut short differs from every real path, so a chain never joins another branch.
                key = (*path[: level + 1], None) if len(path) <= level else tuple(path[: level + 1])
                codes[label, level] = numbers[level].setdefault(key, len(numbers[level]))
        return cls.from_codes(codes)

    @classmethod
    def from_codes(cls, codes: NDArray[Any]) -> LabelTree:
        """A tree from numbers: `codes[label, level]` (from 0) tells apart the nodes below the same parent."""
        node = np.zeros(codes.shape[0], np.int32)
        parents: list[Ids] = []
        for column in codes.T:
            base = np.int64(column.max()) + 1
            nodes, below = np.unique(node * base + column, return_inverse=True)
            parents.append((nodes // base).astype(np.int32))
            node = below.astype(np.int32)
        return cls((*parents, node))

    @property
    def levels(self) -> int:
        """How many levels there are, the labels included."""
        return len(self.parents)

    @property
    def widths(self) -> tuple[int, ...]:
        """Nodes per level; the last number is that of the labels."""
        return tuple(len(level) for level in self.parents)

    def membership(self, level: int) -> CSR:
        """Nodes of a level × nodes of the level above: 1 where the latter is the parent. C in the papers."""
        level = self._number(level)
        parent = self.parents[level]
        return from_parts(np.arange(len(parent) + 1), parent, None, columns=self._width_above(level))

    def children(self, level: int) -> tuple[NDArray[np.int64], Ids]:
        """Where the children of each parent begin (and the last end), and the nodes of a level ordered by parent."""
        level = self._number(level)
        return children_of(self.parents[level], self._width_above(level))

    def ancestors(self, level: int) -> Ids:
        """The node of a level that each label is below."""
        level = self._number(level)
        node = np.arange(self.widths[-1], dtype=np.int32)
        for parent in self.parents[:level:-1]:
            node = parent[node]
        return node

    def below(self, level: int, node: int) -> Ids:
        """The labels below a node of a level, in rising order."""
        first, last = node, node + 1
        for parent in self.parents[self._number(level) + 1 : -1]:  # children of neighbours are neighbours
            first, last = (int(at) for at in np.searchsorted(parent, [first, last]))
        if self._number(level) == self.levels - 1:
            return np.array([node], np.int32)
        above = self.parents[-1]
        return np.flatnonzero((above >= first) & (above < last)).astype(np.int32)

    def path(self, label: int) -> list[int]:
        """The node of each level that a label is below, coarse to fine, the label itself last."""
        nodes = [label]
        for parent in self.parents[:0:-1]:
            nodes.append(int(parent[nodes[-1]]))
        return nodes[::-1]

    def branches(self, labels: ArrayLike) -> list[NDArray[np.bool_]]:
        """Of each level a mask: which nodes have one of these labels below them, or are one."""
        given = np.unique(np.asarray(labels))
        if not given.size or given.dtype.kind not in "iu" or not 0 <= given[0] <= given[-1] < self.widths[-1]:
            raise DataError(f"{given} are no labels of this tree; give some numbers from 0 to {self.widths[-1] - 1}")
        masks = []
        for parent in reversed(self.parents):
            mask = np.zeros(len(parent), np.bool_)
            mask[given] = True
            masks.append(mask)
            given = np.unique(parent[given])
        return masks[::-1]

    def lift(self, labels: CSR, level: int) -> CSR:
        """Labels → nodes of a level; the values of labels below the same node are added. Y·C·C… in the papers."""
        level = self._number(level)
        self._check_width(labels, self.levels - 1, "labels")
        if level == self.levels - 1:
            return labels
        shape = (labels.shape[0], self.widths[level])
        return canonical(CSR((labels.data, self.ancestors(level)[labels.indices], labels.indptr), shape=shape))

    def expand(self, nodes: CSR, level: int) -> CSR:
        """Nodes of the level above → their children at `level`, each with its parent's score. S·Cᵀ in the papers.

        Scores of zero stay as entries, so that an underflowed score does not lose its children.
        """
        level = self._number(level)
        self._check_width(nodes, level - 1, "nodes")
        starts, children = self.children(level)
        counts = np.diff(starts)[nodes.indices]
        ends = np.concatenate([[0], np.cumsum(counts)])
        # Entry e of `nodes` becomes counts[e] entries; the j-th of them is child number starts[parent] + j.
        within = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
        columns = children[np.repeat(starts[nodes.indices], counts) + within]
        result = from_parts(ends[nodes.indptr], columns, np.repeat(nodes.data, counts), columns=self.widths[level])
        if level == self.levels - 1:  # numbers of labels follow no order of the tree
            result.has_sorted_indices = False
            result.sort_indices()
            result.has_canonical_format = True
        return result

    def keep(self, levels: Sequence[int]) -> LabelTree:
        """The tree with only these levels, and always the labels: `keep([])` is flat, `keep([0])` has two levels."""
        kept = sorted({self._number(level) for level in levels} | {self.levels - 1})
        parents: list[Ids] = []
        previous = -1
        for level in kept:
            node = np.arange(self.widths[level], dtype=np.int32)
            for between in range(level, previous, -1):
                node = self.parents[between][node]
            parents.append(node)
            previous = level
        return LabelTree(tuple(parents))

    def save(self, folder: Folder) -> None:
        """Write the tree into a model folder."""
        folder.write_tensors(_FILE, {f"parents.{level}": parent for level, parent in enumerate(self.parents)})

    @classmethod
    def load(cls, folder: Folder) -> LabelTree:
        """Read a tree that `save` wrote."""
        tensors = folder.read_tensors(_FILE)
        try:
            return cls(tuple(tensors[f"parents.{level}"] for level in range(len(tensors))))
        except (DataError, KeyError) as error:
            raise StoreError(f"this is not a label tree ({error}); train again", path=folder.path / _FILE) from error

    def describe(self, names: Sequence[str] | None = None, *, depth: int = 2, width: int = 5) -> str:
        """The tree as an indented outline: of each node its labels' count and first names.

        At most `depth` levels below the root and `width` children of a node are shown; the rest is counted.
        """
        return "\n".join(_outline(self, names, depth, width))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelTree):
            return NotImplemented
        return self.widths == other.widths and all(map(np.array_equal, self.parents, other.parents))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"LabelTree({'-'.join(map(str, self.widths))})"

    def _number(self, level: int) -> int:
        if not -self.levels <= level < self.levels:
            raise ConfigError(f"there is no level {level}; the tree has levels 0 to {self.levels - 1}")
        return level % self.levels

    def _width_above(self, level: int) -> int:
        return self.widths[level - 1] if level else 1

    def _check_width(self, matrix: CSR, level: int, what: str) -> None:
        width = self.widths[level] if level >= 0 else 1
        if matrix.shape[1] != width:
            raise DataError(f"{what} have {matrix.shape[1]} columns, but level {level} of the tree has {width} nodes")


def children_of(parents: Ids, count: int) -> tuple[NDArray[np.int64], Ids]:
    """Where the children of each of `count` parents begin (and the last end), and the nodes ordered by parent."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(parents, minlength=count), out=starts[1:])
    return starts, np.argsort(parents, kind="stable").astype(np.int32)


def _as_ids(level: ArrayLike, number: int) -> Ids:
    ids = np.asarray(level)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise DataError(f"level {number} of the tree is not a list of whole numbers")
    return ids.astype(np.int32)


def _check(parents: tuple[Ids, ...]) -> None:
    """Refuse what is not a tree: every parent exists and every parent has a child."""
    if not parents or not len(parents[-1]):
        raise DataError("a label tree needs at least one level and one label")
    above = 1
    for level, parent in enumerate(parents):
        name = "the root (number 0)" if level == 0 else f"level {level - 1} (numbers 0 to {above - 1})"
        if len(parent) and not 0 <= parent.min() <= parent.max() < above:
            wrong = int(np.flatnonzero((parent < 0) | (parent >= above))[0])
            raise DataError(f"node {wrong} of level {level} has parent {parent[wrong]}, which is not in {name}")
        childless = np.flatnonzero(np.bincount(parent, minlength=above) == 0)
        if len(childless):
            raise DataError(f"node {childless[0]} of level {level - 1} has no children; remove it or give it some")
        above = len(parent)


def _outline(tree: LabelTree, names: Sequence[str] | None, depth: int, width: int) -> Iterator[str]:
    yield f"{tree!r}: {tree.widths[-1]} labels"
    children = [tree.children(level) for level in range(min(depth, tree.levels))]
    sizes = [np.bincount(tree.ancestors(level)) for level in range(len(children))]

    def below(level: int, parent: int) -> Iterator[str]:
        starts, nodes = children[level]
        mine = nodes[starts[parent] : starts[parent + 1]]
        for node in mine[:width].tolist():
            yield "  " * (level + 1) + _line(tree, level, node, int(sizes[level][node]), names)
            if level + 1 < len(children):
                yield from below(level + 1, node)
        if len(mine) > width:
            yield "  " * (level + 1) + f"… {len(mine) - width} more"

    if children:
        yield from below(0, 0)


def _line(tree: LabelTree, level: int, node: int, size: int, names: Sequence[str] | None) -> str:
    """One node of an outline: a label by its name, an inner node by its size and a few of its labels."""

    def name(label: int) -> str:
        return names[label] if names is not None else str(label)

    if level == tree.levels - 1:
        return name(node)
    few = np.flatnonzero(tree.ancestors(level) == node)[:4].tolist()
    return f"[{node}] {size} labels: {', '.join(map(name, few))}{', …' if size > len(few) else ''}"

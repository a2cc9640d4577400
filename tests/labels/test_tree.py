from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from treetop.errors import ConfigError, DataError, StoreError
from treetop.labels import LabelTree
from treetop.sparse import canonical, union
from treetop.store import Folder
from treetop.types import CSR


@st.composite
def trees(draw: st.DrawFn) -> LabelTree:
    """Any tree of up to four levels and thirty labels."""
    labels = draw(st.integers(1, 30))
    depth = draw(st.integers(0, 3))
    row = st.lists(st.integers(0, 3), min_size=depth, max_size=depth)
    codes = draw(st.lists(row, min_size=labels, max_size=labels))
    return LabelTree.from_codes(np.array(codes, np.int32).reshape(labels, depth))


def random_scores(rows: int, columns: int, seed: int) -> CSR:
    """Scores with explicit zeros among them."""
    rng = np.random.default_rng(seed)
    matrix = canonical((rng.random((rows, columns)) < 0.4).astype(np.float32))
    matrix.data[:] = rng.integers(0, 4, matrix.nnz)
    return matrix


@given(trees(), st.integers(0, 99))
def test_lift_is_the_product_with_memberships(tree: LabelTree, seed: int) -> None:
    labels = random_scores(5, tree.widths[-1], seed)
    product = labels.toarray()
    for level in reversed(range(tree.levels)):
        lifted = tree.lift(labels, level)
        assert lifted.shape == (5, tree.widths[level])
        assert lifted.indices.dtype == np.int32
        assert CSR((lifted.data, lifted.indices, lifted.indptr), shape=lifted.shape).has_canonical_format
        np.testing.assert_array_equal(lifted.toarray(), product)
        product = product @ tree.membership(level).toarray()


@given(trees(), st.integers(0, 99))
def test_expand_gives_children_their_parents_scores_and_keeps_zeros(tree: LabelTree, seed: int) -> None:
    for level in range(tree.levels):
        above = tree.widths[level - 1] if level else 1
        nodes = random_scores(4, above, seed)
        expanded = tree.expand(nodes, level)
        assert expanded.indices.dtype == np.int32
        assert CSR((expanded.data, expanded.indices, expanded.indptr), shape=expanded.shape).has_canonical_format
        parent = tree.parents[level]
        np.testing.assert_array_equal(expanded.toarray(), nodes.toarray()[:, parent])
        stored = np.zeros(nodes.shape, bool)
        stored[np.repeat(np.arange(4), np.diff(nodes.indptr)), nodes.indices] = True
        assert expanded.nnz == stored[:, parent].sum()


@given(trees(), st.integers(0, 99))
def test_the_true_node_is_among_the_children_of_the_true_parent(tree: LabelTree, seed: int) -> None:
    labels = random_scores(5, tree.widths[-1], seed)
    for level in range(1, tree.levels):
        true = tree.lift(labels, level)
        reach = tree.expand(tree.lift(labels, level - 1), level)
        assert union(true, reach).nnz == reach.nnz


@given(trees())
def test_children_invert_parents(tree: LabelTree) -> None:
    for level in range(tree.levels):
        starts, nodes = tree.children(level)
        assert sorted(nodes.tolist()) == list(range(tree.widths[level]))
        assert starts[0] == 0
        assert starts[-1] == len(nodes)
        for parent in range(len(starts) - 1):
            mine = nodes[starts[parent] : starts[parent + 1]]
            assert len(mine) > 0
            assert np.all(np.diff(mine) > 0)
            assert np.all(tree.parents[level][mine] == parent)


@given(trees(), st.data())
def test_keep_composes_and_preserves_lifting(tree: LabelTree, data: st.DataObject) -> None:
    levels = data.draw(st.sets(st.integers(0, tree.levels - 1)))
    kept = tree.keep(sorted(levels))
    expected = sorted(levels | {tree.levels - 1})
    assert kept.widths == tuple(tree.widths[level] for level in expected)
    labels = random_scores(3, tree.widths[-1], 0)
    for new, old in enumerate(expected):
        np.testing.assert_array_equal(kept.lift(labels, new).toarray(), tree.lift(labels, old).toarray())
    assert tree.keep(range(tree.levels)) == tree
    assert tree.keep([]).widths == (tree.widths[-1],)


@given(trees(), st.randoms(use_true_random=False))
def test_from_parents_accepts_any_numbering_of_inner_nodes(tree: LabelTree, random: Random) -> None:
    """Shuffled inner numbers give a tree with the same groups of labels at each level."""
    number, shuffled = np.zeros(1, np.int64), []
    for level in tree.parents[:-1]:
        new = np.array(random.sample(range(len(level)), len(level)))
        parent = np.empty(len(level), np.int64)
        parent[new] = number[level]
        shuffled.append(parent)
        number = new
    shuffled.append(number[tree.parents[-1]])
    again = LabelTree.from_parents(shuffled)
    for at in range(tree.levels):
        pairs = set(zip(tree.ancestors(at).tolist(), again.ancestors(at).tolist(), strict=True))
        assert len(pairs) == tree.widths[at] == again.widths[at]


@given(trees())
def test_save_and_load(tmp_path_factory: pytest.TempPathFactory, tree: LabelTree) -> None:
    folder = Folder(tmp_path_factory.mktemp("tree"))
    tree.save(folder)
    assert LabelTree.load(folder) == tree


def test_load_refuses_what_is_not_a_tree(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write_tensors("tree.safetensors", {"parents.0": np.array([0, 7], np.int32)})
    with pytest.raises(StoreError, match=r"tree\.safetensors.*not a label tree.*parent 7"):
        LabelTree.load(folder)


def test_equality_is_by_content() -> None:
    tree = LabelTree.from_groups([[0, 1], [2]])
    assert tree == LabelTree.from_groups([[1, 0], [2]])
    assert tree != LabelTree.from_groups([[0], [1, 2]])
    assert tree != "a tree"
    assert repr(tree) == "LabelTree(2-3)"


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([], "at least one level"),
        ([[]], "not a list of whole numbers"),
        ([np.empty(0, int)], "at least one level and one label"),
        ([[0, 1]], r"node 1 of level 0 has parent 1, which is not in the root"),
        ([[0, 0], [0, 2]], r"node 1 of level 1 has parent 2, which is not in level 0 \(numbers 0 to 1\)"),
        ([[0, 0], [0, -1]], "has parent -1"),
        ([[0, 0, 0], [0, 2]], "node 1 of level 0 has no children"),
        ([[0.0]], "not a list of whole numbers"),
    ],
)
def test_from_parents_says_what_is_wrong(parents: list[list[int]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        LabelTree.from_parents(parents)


def test_the_constructor_wants_children_together() -> None:
    with pytest.raises(DataError, match="from_parents"):
        LabelTree(tuple(np.array(level, np.int32) for level in ([0, 0], [1, 0], [0, 1])))


@pytest.mark.parametrize(
    ("groups", "message"),
    [([[0, 1], [1]], "label 1 is in 2"), ([[0, 2]], "label 1 is in 0"), ([[-1]], "label 0 is in 0"), ([], "one label")],
)
def test_from_groups_wants_each_label_once(groups: list[list[int]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        LabelTree.from_groups(groups)


def test_from_paths_pads_short_paths_with_single_children() -> None:
    tree = LabelTree.from_paths([("law", "tax"), ("law", "tax"), ("law",), ("farm", "milk"), ()])
    assert tree.widths == (3, 4, 5)
    inner = tree.ancestors(1).tolist()
    assert inner[0] == inner[1]
    assert len(set(inner)) == 4
    top = tree.ancestors(0).tolist()
    assert top[0] == top[1] == top[2]
    assert len(set(top)) == 3


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_the_labels_below_a_node_are_those_of_which_it_is_the_ancestor(levels: int) -> None:
    tree = LabelTree.from_codes(np.random.default_rng(levels).integers(0, 3, (40, levels - 1)))
    for level in range(levels):
        for node in range(tree.widths[level]):
            assert tree.below(level, node).tolist() == np.flatnonzero(tree.ancestors(level) == node).tolist()


def test_wrong_widths_and_levels_are_named() -> None:
    tree = LabelTree.from_groups([[0, 1], [2]])
    with pytest.raises(DataError, match="2 columns, but level 1 of the tree has 3 nodes"):
        tree.lift(random_scores(1, 2, 0), 0)
    with pytest.raises(DataError, match="3 columns, but level 0 of the tree has 2 nodes"):
        tree.expand(random_scores(1, 3, 0), 1)
    with pytest.raises(ConfigError, match="no level 2"):
        tree.membership(2)


def test_describe_is_an_outline_with_names() -> None:
    tree = LabelTree.from_paths([("law", "tax"), ("law", "tax"), ("law", "court"), ("farm", "milk")])
    names = ["income tax", "customs", "appeal", "dairy"]
    assert tree.describe(names, depth=1, width=1) == "\n".join(
        ["LabelTree(2-3-4): 4 labels", "  [0] 3 labels: income tax, customs, appeal", "  … 1 more"]
    )
    full = tree.describe(names, depth=3, width=9).splitlines()
    assert full[:4] == [
        "LabelTree(2-3-4): 4 labels",
        "  [0] 3 labels: income tax, customs, appeal",
        "    [0] 2 labels: income tax, customs",
        "      income tax",
    ]
    assert full[-1] == "      dairy"
    assert "  [1] 1 labels: 3" in tree.describe()


def test_branches_are_the_nodes_above_some_labels() -> None:
    tree = LabelTree.from_parents([[0, 0], [0, 0, 1], [0, 2, 1, 0, 2]])
    masks = tree.branches([4, 1])
    assert [np.flatnonzero(mask).tolist() for mask in masks] == [[1], [2], [1, 4]]
    assert [len(mask) for mask in masks] == list(tree.widths)
    assert all(mask.all() for mask in tree.branches(range(5)))

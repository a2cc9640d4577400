from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from treetop.errors import ConfigError, DataError
from treetop.labels import LabelTree, TreeConfig, grow_tree
from treetop.labels.kmeans import balanced_widths
from treetop.sparse import Joined, canonical, join

KINDS = ["balanced", "kmeans"]


def planted(groups: int, size: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels of `groups` groups that share features only within their group, shuffled; and each label's group."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(groups), size))
    features = np.zeros((len(group), 8 * groups), np.float32)
    for label, mine in enumerate(group):
        features[label, 8 * mine : 8 * mine + 8] = rng.random(8) + 0.5
    return features, group


def assert_groups_are_nodes(tree: LabelTree, level: int, group: np.ndarray) -> None:
    pairs = set(zip(tree.ancestors(level).tolist(), group.tolist(), strict=True))
    assert len(pairs) == len(set(group.tolist())) == tree.widths[level]


@pytest.mark.parametrize(
    ("labels", "options", "widths"),
    [
        (3956, {"max_leaf": 16, "branching": 16}, (16, 256)),
        (30938, {"max_leaf": 16, "branching": 16, "top_width": 128}, (128, 2048)),
        (501070, {"max_leaf": 16, "branching": 8, "top_width": 64}, (64, 512, 4096, 32768)),
        (670091, {"max_leaf": 100, "branching": 32}, (8, 256, 8192)),
        (100, {}, ()),
        (101, {}, (2,)),
        (10**6, {"widths": (1024, 8192, 65536)}, (1024, 8192, 65536)),
    ],
)
def test_widths_are_those_of_the_papers(labels: int, options: dict[str, Any], widths: tuple[int, ...]) -> None:
    assert balanced_widths(labels, TreeConfig(**options)) == widths


@pytest.mark.parametrize("form", [canonical, np.asarray])
def test_planted_groups_become_nodes(form: Any) -> None:
    z, group = planted(2, 25)
    tree = grow_tree(form(z), TreeConfig(max_leaf=25), seed=3)
    assert tree.widths == (2, 50)
    assert_groups_are_nodes(tree, 0, group)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spherical", [True, False])
@pytest.mark.parametrize("features", ["sparse", "dense", "joined"])
def test_trees_are_the_same_for_any_number_of_threads(kind: Any, spherical: bool, features: str) -> None:
    rng = np.random.default_rng(1)
    dense = rng.random((300, 6), np.float32)
    sparse = canonical((rng.random((300, 50)) < 0.2) * rng.random((300, 50)))
    z: Any = {"sparse": sparse, "dense": dense, "joined": join(sparse, dense)}[features]
    config = TreeConfig(kind=kind, max_leaf=9, branching=4, spherical=spherical)
    one, two, five = (grow_tree(z, config, seed=5, threads=threads) for threads in (1, 2, 5))
    assert one == two == five
    assert one != grow_tree(z, config, seed=6, threads=1)


@settings(max_examples=60)
@given(
    st.sampled_from(KINDS),
    st.integers(1, 40),
    st.integers(1, 12),
    st.integers(2, 9),
    st.sampled_from(["random", "zero", "equal", "half zero"]),
)
def test_every_label_has_its_place(kind: Any, labels: int, max_leaf: int, branching: int, content: str) -> None:
    """One label, fewer labels than leaves, labels without texts, equal labels: all have a tree."""
    z = np.random.default_rng(labels).random((labels, 5)).astype(np.float32)
    if content == "zero":
        z[:] = 0
    elif content == "half zero":
        z[::2] = 0
    elif content == "equal":
        z[:] = z[0]
    config = TreeConfig(kind=kind, max_leaf=max_leaf, branching=branching)
    tree = grow_tree(canonical(z), config, seed=0, threads=1)
    assert tree.widths[-1] == labels
    assert all(width < labels for width in tree.widths[:-1])
    if kind == "balanced" and labels >= 2 * max_leaf > 2:
        assert np.bincount(tree.parents[-1]).max() <= max(max_leaf, branching)


def test_explicit_widths() -> None:
    z, _ = planted(8, 8)
    assert grow_tree(z, TreeConfig(widths=(2, 16, 128)), seed=0).widths == (2, 16, 64)
    assert grow_tree(z, TreeConfig(widths=(64,)), seed=0).widths == (64,)
    assert grow_tree(z, TreeConfig(max_leaf=1, branching=3), seed=0).widths == (3, 8, 22, 64)


def test_unbalanced_trees_pad_short_branches_with_single_children() -> None:
    """A small group is done at once, a large one is split again; both have all labels at the last level."""
    rng = np.random.default_rng(0)
    large = np.arange(50) >= 5
    z = np.zeros((50, 40), np.float32)
    z[~large, 0] = 1
    z[large, 1:] = rng.random((45, 39))
    tree = grow_tree(z, TreeConfig(kind="kmeans", max_leaf=10, branching=2, max_depth=3), seed=1)
    assert tree.widths == (2, 3, 50)
    assert_groups_are_nodes(tree, 0, large)
    assert sorted(np.bincount(tree.parents[1]).tolist()) == [1, 2]


def test_max_depth_bounds_unbalanced_trees() -> None:
    z, _ = planted(10, 10)
    for depth in (1, 2, 3, 4):
        config = TreeConfig(kind="kmeans", max_leaf=2, branching=3, max_depth=depth)
        assert grow_tree(z, config, seed=0).levels == depth


def test_truncation_keeps_the_largest_features() -> None:
    """With the small features cut off, labels are grouped by the large one that is left."""
    rng = np.random.default_rng(0)
    side = np.arange(40) % 2
    z = canonical(np.concatenate([np.eye(2)[side] * 0.3, rng.random((40, 200)) * 0.2], axis=1))
    for form in (z, join(z, np.zeros((40, 2), np.float32))):
        assert_groups_are_nodes(grow_tree(form, TreeConfig(max_leaf=20, truncate=1), seed=1), 0, side)


def test_joined_equals_dense_of_both_blocks() -> None:
    rng = np.random.default_rng(2)
    sparse = canonical((rng.random((60, 20)) < 0.3) * rng.random((60, 20)))
    dense = rng.random((60, 5), np.float32)
    config = TreeConfig(max_leaf=4, branching=2)
    side_by_side = np.concatenate([sparse.toarray(), dense], axis=1)
    assert grow_tree(Joined(sparse, dense), config, seed=0) == grow_tree(side_by_side, config, seed=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "agglomerative"}, "kind is 'agglomerative'; choose"),
        ({"max_leaf": 0}, "max_leaf is 0; give a whole number of at least 1"),
        ({"branching": 1}, "branching is 1"),
        ({"tolerance": 1.0}, "tolerance is 1.0"),
        ({"widths": (16, 100)}, "powers of two"),
        ({"widths": (256, 16)}, "each larger"),
        ({"widths": (16,), "kind": "kmeans"}, "balanced trees only"),
    ],
)
def test_impossible_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TreeConfig(**options)


def test_bad_representations_are_refused() -> None:
    with pytest.raises(DataError, match="nan in row 1"):
        grow_tree(np.array([[1, 0], [np.nan, 0]], np.float32), TreeConfig(), seed=0)
    with pytest.raises(DataError, match="no labels"):
        grow_tree(np.zeros((0, 3), np.float32), TreeConfig(), seed=0)

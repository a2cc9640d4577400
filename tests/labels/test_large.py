from __future__ import annotations

import numpy as np
import pytest

from treetop.labels import LabelTree, TreeConfig, grow_from_texts, grow_tree, pifa
from treetop.labels.large import most_entries
from treetop.sparse import canonical, normalise
from treetop.types import CSR

CONFIG = TreeConfig(max_leaf=10, branching=4)
TEXTS, LABELS, FEATURES, TOPICS = 900, 240, 400, 16


def corpus(seed: int = 0) -> tuple[CSR, CSR]:
    """Texts of topics, with words and labels of their own, shuffled."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, TOPICS, TEXTS)
    own_words = rng.permutation(FEATURES).reshape(TOPICS, -1)
    own_labels = rng.permutation(LABELS).reshape(TOPICS, -1)
    features, labels = np.zeros((TEXTS, FEATURES), np.float32), np.zeros((TEXTS, LABELS), np.float32)
    for text, mine in enumerate(topic):
        features[text, rng.choice(own_words[mine], 8)] = rng.random(8) + 0.1
        features[text, rng.integers(0, FEATURES, 3)] += 0.2
        labels[text, rng.choice(own_labels[mine], 3)] = 1
    labels[:, 7] = 0  # a label without texts
    return normalise(canonical(features)), canonical(labels)


def similarity(tree: LabelTree, features: CSR, labels: CSR) -> float:
    """How alike the labels of a leaf are: the mean length of the leaves' sums."""
    z, leaf = pifa(features, labels), tree.ancestors(tree.levels - 2)
    assert isinstance(z, CSR)
    sums = canonical(np.eye(leaf.max() + 1, dtype=np.float32)[leaf].T) @ z
    return float(np.linalg.norm(sums.toarray(), axis=1).sum() / len(leaf))


@pytest.mark.parametrize("parts", [2, 5, 20, 10**4])
def test_labels_as_similar_as_with_all_features_at_hand(monkeypatch: pytest.MonkeyPatch, parts: int) -> None:
    features, labels = corpus()
    whole = grow_from_texts(features, labels, CONFIG, seed=3)
    monkeypatch.setattr("treetop.labels.large._MOST", most_entries(features, labels) // parts)
    monkeypatch.setattr("treetop.labels.large._SAMPLE", 50)
    tree = grow_from_texts(features, labels, CONFIG, seed=3)
    assert tree.widths == whole.widths
    assert np.ptp(np.bincount(tree.ancestors(tree.levels - 2))) <= 1  # leaves of equal size
    assert similarity(tree, features, labels) > 0.97 * similarity(whole, features, labels)
    again = grow_from_texts(features, labels, CONFIG, seed=3, threads=2)
    assert all((one == other).all() for one, other in zip(tree.parents, again.parents, strict=True))


def test_few_features_give_the_tree_of_the_representation() -> None:
    features, labels = corpus(1)
    for plain in (False, True):
        expected = grow_tree(pifa(features, labels, normalise_labels=not plain), CONFIG, seed=5)
        tree = grow_from_texts(features, labels, CONFIG, normalise_labels=not plain, seed=5)
        assert all((one == other).all() for one, other in zip(tree.parents, expected.parents, strict=True))


def test_what_needs_all_features_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = corpus(2)
    monkeypatch.setattr("treetop.labels.large._MOST", 100)
    for config in (TreeConfig(kind="kmeans", max_leaf=20, branching=4), TreeConfig(max_leaf=10, spherical=False)):
        expected = grow_tree(pifa(features, labels), config, seed=5)
        tree = grow_from_texts(features, labels, config, seed=5)
        assert all((one == other).all() for one, other in zip(tree.parents, expected.parents, strict=True))

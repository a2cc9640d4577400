from __future__ import annotations

import numpy as np
import pytest

from treetop.errors import ConfigError
from treetop.labels import label_graph, smoothed_pifa
from treetop.sparse import canonical

# Labels 0 and 1 occur together, 2 and 3 do, 4 is alone, 5 has no text.
LABELS = canonical(
    np.array([[1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0]])
)


def test_walks_stay_within_labels_that_occur_together() -> None:
    graph = label_graph(LABELS, seed=1).toarray()
    together = np.array([0, 0, 1, 1, 2, 3])
    np.testing.assert_array_equal(graph > 0, together[:, None] == together[None, :])
    assert graph[:5].sum(axis=1).tolist() == [400] * 5


def test_visits_follow_the_probabilities_of_the_walk() -> None:
    """Label 2 has one text shared with 3 and one of its own: a first step finds 3 in a quarter of the cases."""
    graph = label_graph(LABELS, walk=20_000, restart=1.0, seed=0).toarray()
    assert abs(graph[2, 3] / 20_000 - 0.25) < 0.02
    assert abs(graph[3, 2] / 20_000 - 0.5) < 0.02


def test_graphs_depend_on_the_seed_only() -> None:
    first, again, other = (label_graph(LABELS, seed=seed).toarray() for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


def test_neighbours_are_the_most_visited() -> None:
    graph = label_graph(LABELS, neighbours=1, seed=0)
    assert np.diff(graph.indptr).max() <= 2  # the neighbour, and the label itself
    assert np.all(graph.diagonal() > 0)


def test_impossible_walks_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"restart 1\.5"):
        label_graph(LABELS, restart=1.5)


def test_smoothing_lends_features_to_labels_that_occur_together() -> None:
    texts = canonical(np.eye(5, dtype=np.float32))
    z = smoothed_pifa(texts, LABELS, seed=0).toarray()
    assert z.shape == (6, 5)
    assert z[3, 3] > 0  # a text of label 2 only
    np.testing.assert_allclose(np.linalg.norm(z[:5], axis=1), 1, atol=1e-5)
    assert not z[5].any()
    assert np.diff(smoothed_pifa(texts, LABELS, top=1, seed=0).indptr).max() == 1


def test_labels_with_many_texts_weigh_more_with_their_neighbours() -> None:
    """Sums are averaged as they are: of two labels that always occur together, the one with more texts lends more."""
    labels = canonical(np.array([[1, 1], [1, 0], [1, 0], [1, 0]]))
    texts = canonical(np.array([[1, 0], [0, 1], [0, 1], [0, 1]], np.float32))
    z = smoothed_pifa(texts, labels, restart=0.0, seed=0).toarray()
    assert z[1, 1] > 2 * z[1, 0]  # its own only text has the first word

"""Generated data has the statistics it was asked for, and can be learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.generate import SHAPES, Generated, Shape, generate, uniform_hash, zipf_mandelbrot
from benchmarks.statistics import statistics

SMALL = Shape(train=3000, test=500, labels=2000, per_text=4.0, features=20_000, words=80.0)


@pytest.fixture(scope="module")
def made() -> Generated:
    return generate(SMALL, seed=1)


def test_shapes_and_averages(made: Generated) -> None:
    assert made.train_features.shape == (3000, 20_000)
    assert made.test_labels.shape == (500, 2000)
    assert made.train_labels.nnz / 3000 == pytest.approx(4.0, rel=0.08)
    assert made.train_features.dtype == np.float32
    for labels in (made.train_labels, made.test_labels):
        assert set(np.unique(labels.data)) == {1.0}
        assert np.diff(labels.indptr).min() >= 1


def test_every_label_has_a_training_text(made: Generated) -> None:
    assert made.train_labels.getnnz(axis=0).min() >= 1


def test_rows_have_length_one(made: Generated) -> None:
    for features in (made.train_features, made.test_features):
        lengths = np.sqrt(features.multiply(features).sum(axis=1))
        np.testing.assert_allclose(np.asarray(lengths), 1, rtol=1e-5)


def test_the_same_seed_gives_the_same_data(made: Generated) -> None:
    for one, other in zip(made, generate(SMALL, seed=1), strict=True):
        assert abs(one - other).nnz == 0
    assert abs(generate(SMALL, seed=2).train_labels - made.train_labels).nnz > 0


def test_labels_have_a_long_tail(made: Generated) -> None:
    facts = statistics(made.train_features, made.train_labels)
    assert facts["share_of_top_10_percent"] > 0.4
    assert facts["labels_up_to_5_texts"] > 0.5
    assert facts["most_frequent_label"] > 15 * facts["texts_per_label"]


def test_wiki_has_as_few_frequent_labels_as_published() -> None:
    """2.1 % of Wiki-500K's labels have more than 100 training texts (X-Transformer, figure 1)."""
    shape = SHAPES["wiki-500k"]
    expected = shape.train * shape.per_text * zipf_mandelbrot(shape.labels, 1.3, shape.labels**0.46)
    assert (expected > 100).mean() == pytest.approx(0.021, abs=0.004)


def test_table_1_is_copied_right() -> None:
    """Its last column follows from the others."""
    published = {name: shape for name, shape in SHAPES.items() if shape.texts_per_label is not None}
    assert len(published) == 6
    for name, shape in published.items():
        assert shape.train * shape.per_text / shape.labels == pytest.approx(shape.texts_per_label, rel=0.01), name


def test_a_part_keeps_what_is_per_text() -> None:
    part = SHAPES["amazon-3m"].scaled(0.1)
    assert part.train / part.labels == pytest.approx(SHAPES["amazon-3m"].train / SHAPES["amazon-3m"].labels, rel=1e-4)
    assert (part.per_text, part.features) == (36.04, 337_067)


def test_longer_texts_repeat_more() -> None:
    facts = []
    for words in (40.0, 578.0):
        made = generate(replace(SMALL, words=words, features=50_000), seed=0)
        facts.append(statistics(made.train_features, made.train_labels)["features_per_text"] / words)
    assert facts[0] == pytest.approx(0.8, abs=0.12)  # CVE descriptions: 32.6 of 40.5
    assert facts[1] == pytest.approx(0.32, abs=0.08)  # EU laws: 185 of 578


def test_labels_can_be_learned_from_the_words(made: Generated) -> None:
    """The nearest label centroid, an easy learner, is right far more often than chance."""
    centroids = sp.csr_matrix(made.train_labels.T @ made.train_features)
    scores = (made.test_features @ centroids.T).toarray()
    scores /= np.sqrt(np.asarray(centroids.multiply(centroids).sum(axis=1)).ravel())
    right = made.test_labels.toarray()[np.arange(500), scores.argmax(axis=1)].mean()
    assert right > 0.3


def test_the_hash_is_uniform_and_depends_on_the_salt() -> None:
    keys = np.arange(100_000)
    one, other = uniform_hash(keys, 0), uniform_hash(keys, 1)
    counts = np.histogram(one, bins=10, range=(0, 1))[0]
    assert counts.min() > 9_500
    assert counts.max() < 10_500
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.02

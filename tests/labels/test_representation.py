from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treetop.errors import ConfigError, DataError
from treetop.labels import beside, mix, pifa, pii
from treetop.labels.representation import unit_rows
from treetop.sparse import AnyFeatures, Joined, canonical, join

TEXTS = np.array([[1, 0, 0], [0, 0.6, 0.8], [0, 1, 0]], np.float32)
LABELS = canonical(np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0]], np.float32))


def by_hand(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    sums = weights.T @ features
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.where(lengths > 0, lengths, 1))


def dense(features: AnyFeatures) -> np.ndarray:
    if isinstance(features, Joined):
        return np.concatenate([features.sparse.toarray(), features.dense], axis=1)
    return features if isinstance(features, np.ndarray) else features.toarray()


def test_pifa_scales_the_labels_of_a_text_first() -> None:
    half = 0.5**0.5
    weights = np.array([[1, 0, 0, 0], [half, half, 0, 0], [0, half, half, 0]])
    z = dense(pifa(canonical(TEXTS), LABELS))
    np.testing.assert_allclose(z, by_hand(TEXTS, weights), atol=1e-6)
    np.testing.assert_allclose(z[0], np.array([1, 0.6 * half, 0.8 * half]) / 1.5**0.5, atol=1e-6)


def test_pifa_of_attention_xml_does_not() -> None:
    z = pifa(canonical(TEXTS), LABELS, normalise_labels=False)
    np.testing.assert_allclose(dense(z), by_hand(TEXTS, LABELS.toarray()), atol=1e-6)


@pytest.mark.parametrize("normalise_labels", [True, False])
def test_pifa_is_the_same_for_every_kind_of_features(normalise_labels: bool) -> None:
    rng = np.random.default_rng(0)
    sparse = canonical((rng.random((30, 12)) < 0.3) * rng.random((30, 12)))
    embedding = rng.standard_normal((30, 4)).astype(np.float32)
    labels = canonical(rng.random((30, 9)) < 0.2)
    joined = pifa(join(sparse, embedding), labels, normalise_labels=normalise_labels)
    assert isinstance(joined, Joined)
    both = np.concatenate([sparse.toarray(), embedding], axis=1)
    expected = pifa(both, labels, normalise_labels=normalise_labels)
    for z in (joined, pifa(canonical(both), labels, normalise_labels=normalise_labels)):
        np.testing.assert_allclose(dense(z), dense(expected), atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(dense(z), axis=1), 1, atol=1e-5)


def test_labels_without_texts_are_zero() -> None:
    for features in (TEXTS, canonical(TEXTS), join(canonical(TEXTS), TEXTS)):
        assert not dense(pifa(features, LABELS))[3].any()


def test_pifa_names_the_mismatch() -> None:
    with pytest.raises(DataError, match="2 texts do not fit the labels of 3"):
        pifa(TEXTS[:2], LABELS)


def test_pii_is_the_texts_of_a_label() -> None:
    half = 0.5**0.5
    expected = [[half, half, 0], [0, half, half], [0, 0, 1], [0, 0, 0]]
    np.testing.assert_allclose(pii(LABELS).toarray(), expected, atol=1e-6)


def test_beside_puts_any_two_kinds_together() -> None:
    a, b = TEXTS, np.arange(6, dtype=np.float32).reshape(3, 2)
    both = np.concatenate([a, b], axis=1)
    for pair in ((a, b), (canonical(a), canonical(b)), (canonical(a), b), (b, canonical(a))):
        np.testing.assert_array_equal(dense(beside(*pair)), both)
    three = beside(join(canonical(a), b), canonical(b))
    np.testing.assert_array_equal(dense(three), np.concatenate([a, b, b], axis=1))
    with pytest.raises(DataError, match="3 and 2 labels"):
        beside(a, b[:2])


@pytest.mark.parametrize("form", [canonical, np.asarray])
def test_mix_is_convex_for_one_alpha_or_one_per_label(form: Any) -> None:
    a, b = TEXTS, TEXTS[::-1].copy()
    np.testing.assert_allclose(dense(mix(form(a), form(b), 0.25)), 0.25 * a + 0.75 * b, atol=1e-6)
    alpha = np.array([0, 0.5, 1])
    expected = alpha[:, None] * a + (1 - alpha)[:, None] * b
    np.testing.assert_allclose(dense(mix(form(a), form(b), alpha)), expected, atol=1e-6)
    with pytest.raises(ConfigError, match=r"alpha is 1\.5"):
        mix(form(a), form(b), 1.5)


def test_mix_refuses_what_does_not_fit() -> None:
    with pytest.raises(DataError, match=r"\(3, 3\) and \(3, 2\)"):
        mix(TEXTS, TEXTS[:, :2], 0.5)
    with pytest.raises(DataError, match="sparse and a dense"):
        mix(TEXTS, canonical(TEXTS), 0.5)


def test_unit_rows_over_all_blocks() -> None:
    joined = join(canonical(TEXTS * 3), TEXTS[:, :1] * 4)
    scaled = dense(unit_rows(joined))
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(scaled[0], [0.6, 0, 0, 0.8], atol=1e-6)
    already = canonical(TEXTS)
    assert unit_rows(already) is already

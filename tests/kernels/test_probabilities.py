from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from treetop.errors import DataError
from treetop.kernels import Curves, probabilities
from treetop.kernels.reference import probabilities as reference

LEVEL = Curves(
    np.array([0, 2, 4]),
    np.array([0, 1, 0, 1], np.float32),
    np.array([0, 0.5, 0.5, 1], np.float32),
    np.ones(2, np.float32),
)
"""Two bands of straight lines: half the score, and half more than that."""


def random_case(rows: int, k: int, bands: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, Curves]:
    rng = np.random.default_rng(seed)
    labels = np.argsort(rng.random((rows, 30)), axis=1)[:, :k].astype(np.int32)
    labels[np.arange(k) >= rng.integers(0, k + 1, (rows, 1))] = -1
    scores = -np.sort(-rng.standard_normal((rows, k))).astype(np.float32)
    sizes = rng.integers(1, 6, bands)
    knots = [np.sort(rng.choice(np.arange(-20, 20) / 8, size, replace=False)).astype(np.float32) for size in sizes]
    values = [np.sort(rng.random(size)).astype(np.float32) for size in sizes]
    weights = rng.choice([0.5, 1, 7], bands).astype(np.float32)
    curves = Curves(np.append(0, np.cumsum(sizes)), np.concatenate(knots), np.concatenate(values), weights)
    return labels, np.where(labels >= 0, scores, np.float32(0)), rng.integers(0, bands, 30).astype(np.uint8), curves


@given(st.integers(0, 12), st.integers(1, 12), st.integers(1, 4), st.integers(0, 999))
def test_it_equals_the_reference(rows: int, k: int, bands: int, seed: int) -> None:
    case = random_case(rows, k, bands, seed)
    found = probabilities(*case)
    np.testing.assert_allclose(found, reference.probabilities(*case), atol=1e-6)
    assert found.dtype == np.float32
    assert (np.diff(found, axis=1)[case[0][:, 1:] >= 0] <= 0).all()


def test_by_hand() -> None:
    band = np.array([0, 1], np.uint8)
    labels, scores = np.array([[1, 0], [0, 1], [0, -1]], np.int32), np.array([[0.8, 0.6]] * 3, np.float32)
    found = probabilities(labels, scores, band, LEVEL)
    # the second list would be 0.4, 0.8: its labels share the mean
    np.testing.assert_allclose(found, [[0.9, 0.3], [0.6, 0.6], [0.4, 0.0]], atol=1e-6)


def test_a_band_that_counts_more_moves_less() -> None:
    band = np.array([0, 1], np.uint8)
    labels, scores = np.array([[0, 1]], np.int32), np.array([[0.8, 0.6]], np.float32)
    found = probabilities(labels, scores, band, LEVEL._replace(weight=np.array([1, 3], np.float32)))
    np.testing.assert_allclose(found, [[0.7, 0.7]], atol=1e-6)  # (0.4 + 3 · 0.8) / 4


def test_beyond_the_knots_it_stays_level() -> None:
    found = probabilities(
        np.array([[1], [1]], np.int32), np.array([[9], [-9]], np.float32), np.array([0, 1], np.uint8), LEVEL
    )
    assert found.ravel().tolist() == [1.0, 0.5]


def test_a_label_without_a_band() -> None:
    with pytest.raises(DataError, match="label 7 is not among the 2 labels"):
        probabilities(np.array([[7]], np.int32), np.zeros((1, 1), np.float32), np.array([0, 1], np.uint8), LEVEL)

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from treetop.calibration.isotonic import GROUP, pooled, rising_map


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(0, 99))
def test_pooling_is_the_projection_onto_rising_values(values: list[int], seed: int) -> None:
    """By its formula: at each place the highest over starts of the lowest mean up to an end."""
    y, w = np.array(values, float), np.random.default_rng(seed).integers(1, 4, len(values)).astype(float)
    expected = [
        max(min(np.average(y[a:b], weights=w[a:b]) for b in range(place + 1, len(y) + 1)) for a in range(place + 1))
        for place in range(len(y))
    ]
    np.testing.assert_allclose(pooled(y, w), expected)


def test_nothing_is_pooled_into_nothing() -> None:
    assert pooled(np.zeros(0), np.zeros(0)).tolist() == []


def test_a_planted_curve_is_found() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 2, 50_000).astype(np.float32)
    truth = 1 / (1 + np.exp(-1.5 * (scores - 1)))
    knots, values = rising_map(scores, rng.random(50_000) < truth)
    assert (np.diff(knots) > 0).all()
    assert (np.diff(values) >= 0).all()
    assert len(knots) < 500  # of 2,500 groups; pools need their ends only
    assert np.abs(np.interp(scores, knots, values) - truth).mean() < 0.015


def test_no_value_rests_on_a_handful() -> None:
    scores = np.arange(2 * GROUP, dtype=np.float32)
    hits = np.append(np.zeros(2 * GROUP - 1, bool), True)  # one lucky label at the very top
    knots, values = rising_map(scores, hits)
    np.testing.assert_allclose(np.interp(scores[[0, -1]], knots, values), [0, 1 / GROUP])


def test_equal_scores_have_one_value() -> None:
    scores = np.zeros(5 * GROUP, np.float32)
    knots, values = rising_map(scores, np.arange(5 * GROUP) % 4 == 0)
    assert (knots.tolist(), values.tolist()) == ([0.0], [0.25])

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from treetop.errors import ConfigError, DataError
from treetop.metrics import brier_score, expected_calibration_error, reliability
from treetop.predictions import Predictions

LABELS = csr_array(np.array([[1, 0, 0], [0, 1, 1]], np.float32))


def predictions(scores: list[list[float]]) -> Predictions:
    return Predictions(np.array([[0, 1], [1, -1]], np.int32), np.array(scores, np.float32))


def test_by_hand() -> None:
    # ten bins: 0.95 and 1.0 fall together (both hits, mean gap 0.025), 0.25 is alone and a miss
    value = expected_calibration_error(predictions([[0.95, 0.25], [1.0, 0.0]]), LABELS, bins=10)
    assert value == pytest.approx((0.05 + 0.0 + 0.25) / 3)
    assert expected_calibration_error(predictions([[0.95, 0.25], [1.0, 0.0]]), LABELS, k=1) == pytest.approx(0.025)


def test_a_score_of_one_is_in_the_last_bin() -> None:
    scores = predictions([[0.95, 0.25], [1.0, 0.0]])
    only_the_first = csr_array(np.array([[1, 0, 0], [0, 0, 1]], np.float32))  # 0.95 is a hit, 1.0 and 0.25 are misses
    assert expected_calibration_error(scores, only_the_first, bins=10) == pytest.approx((1.0 - 0.05 + 0.25) / 3)


def test_gaps_cancel_inside_a_bin_only() -> None:
    scores = predictions([[0.6, 0.6], [0.6, 0.0]])  # two of three are hits
    assert expected_calibration_error(scores, LABELS, bins=1) == pytest.approx(abs(0.6 - 2 / 3), abs=1e-6)


def test_scores_drawn_as_probabilities_are_calibrated() -> None:
    rng = np.random.default_rng(0)
    chance = rng.random((50_000, 2)).astype(np.float32)
    labels = csr_array((rng.random((50_000, 2)) < chance).astype(np.float32))
    assert expected_calibration_error(Predictions.from_csr(csr_array(chance), 2), labels) < 0.01


def test_no_predictions_have_no_error() -> None:
    empty = Predictions(np.full((2, 1), -1, np.int32), np.zeros((2, 1), np.float32))
    assert expected_calibration_error(empty, LABELS) == 0


@pytest.mark.parametrize("scores", [[[1.5, 0.2], [0.1, 0]], [[0.5, -0.2], [0.1, 0]], [[float("nan"), 0], [0.1, 0]]])
def test_margins_are_no_probabilities(scores: list[list[float]]) -> None:
    with pytest.raises(DataError, match="no probabilities"):
        expected_calibration_error(predictions(scores), LABELS)


def test_no_bins() -> None:
    with pytest.raises(ConfigError, match="bins is 0"):
        expected_calibration_error(predictions([[0.5, 0.2], [0.1, 0]]), LABELS, bins=0)


def test_the_diagram_by_hand() -> None:
    found = reliability(predictions([[0.95, 0.25], [0.99, 0.0]]), LABELS, bins=10)
    assert (found.score.tolist(), found.share.tolist()) == (pytest.approx([0.25, 0.97]), [0.0, 1.0])
    assert found.size.tolist() == [1, 2]
    assert found.error == pytest.approx(
        expected_calibration_error(predictions([[0.95, 0.25], [0.99, 0]]), LABELS, bins=10)
    )


def test_the_brier_score_by_hand() -> None:
    assert brier_score(predictions([[0.9, 0.25], [0.8, 0.0]]), LABELS) == pytest.approx((0.01 + 0.0625 + 0.04) / 3)
    assert brier_score(predictions([[0.9, 0.25], [0.8, 0.0]]), LABELS, k=1) == pytest.approx((0.01 + 0.04) / 2)


def test_only_some_labels_count() -> None:
    scores, second = predictions([[0.9, 0.25], [0.8, 0.0]]), np.array([False, True, False])
    assert brier_score(scores, LABELS, among=second) == pytest.approx((0.0625 + 0.04) / 2)
    assert expected_calibration_error(scores, LABELS, among=second) == pytest.approx((0.25 + 0.2) / 2)
    assert reliability(scores, LABELS, among=np.zeros(3, bool)).error == 0

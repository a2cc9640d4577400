from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import f1_score

from rankings import Ranked, Truth
from treetop.errors import ConfigError
from treetop.metrics import at_threshold, best_threshold, evaluate, f1
from treetop.predictions import Predictions
from treetop.types import Dense

PREDICTIONS = Predictions(
    np.array([[0, 1, 2], [1, 2, -1], [2, 0, 3]], np.int32),
    np.array([[0.9, 0.5, 0.2], [0.8, 0.4, 0.0], [0.5, 0.3, 0.1]], np.float32),
)
LABELS = csr_array(np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]], np.float32))


@pytest.mark.parametrize(
    ("threshold", "micro", "macro"),
    [
        (0.0, 2 * 4 / (8 + 4), (2 / 3 + 2 / 3 + 2 / 4 + 1) / 4),
        (0.5, 2 * 2 / (4 + 4), (1 + 2 / 3 + 0 + 0) / 4),  # a score equal to the threshold is in
        (0.85, 2 * 1 / (1 + 4), 1 / 4),
        (1.0, 0.0, 0.0),
    ],
)
def test_by_hand(threshold: float, micro: float, macro: float) -> None:
    assert f1(PREDICTIONS, LABELS, threshold=threshold) == pytest.approx(micro)
    assert f1(PREDICTIONS, LABELS, threshold=threshold, average="macro") == pytest.approx(macro)


def test_a_negative_threshold_does_not_count_empty_places() -> None:
    assert f1(PREDICTIONS, LABELS, threshold=-5) == f1(PREDICTIONS, LABELS, threshold=0)


def test_unknown_average() -> None:
    with pytest.raises(ConfigError, match="'weighted'; choose micro or macro"):
        f1(PREDICTIONS, LABELS, threshold=0.5, average="weighted")


def random_case(seed: int) -> tuple[Dense, Dense]:
    rng = np.random.default_rng(seed)
    labels = (rng.random((20, 8)) < 0.2).astype(np.float32)
    scores = np.round(rng.random((20, 8)) * 0.5 + 0.4 * labels, 1).astype(np.float32)
    return scores, labels


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.05, 1.0))
def test_equals_scikit_learn(seed: int, threshold: float) -> None:
    scores, labels = random_case(seed)
    predictions = Predictions.from_csr(csr_array(scores), 8)
    chosen = scores >= threshold
    occurs = labels.any(axis=0).sum() / 8  # scikit-learn's macro mean includes labels that never occur
    micro = f1_score(labels, chosen, average="micro", zero_division=0)
    macro = f1_score(labels, chosen, average="macro", zero_division=0)
    assert f1(predictions, csr_array(labels), threshold=threshold) == pytest.approx(micro)
    assert f1(predictions, csr_array(labels), threshold=threshold, average="macro") * occurs == pytest.approx(macro)


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_no_threshold_beats_the_best(seed: int) -> None:
    scores, labels = random_case(seed)
    predictions, truth = Predictions.from_csr(csr_array(scores), 5), csr_array(labels)
    best = f1(predictions, truth, threshold=best_threshold(predictions, truth))
    tried = [f1(predictions, truth, threshold=float(score)) for score in np.unique(predictions.scores)]
    assert best == pytest.approx(max(tried))


def test_best_threshold_without_hits_predicts_nothing() -> None:
    assert best_threshold(PREDICTIONS, csr_array((3, 4))) == float("inf")


def test_at_k_and_at_a_threshold_agree_where_they_choose_the_same() -> None:
    at_k = evaluate(PREDICTIONS, LABELS, ["microf1@3", "macrof1@3"])
    assert at_k["microf1@3"] == f1(PREDICTIONS, LABELS, threshold=0)
    assert at_k["macrof1@3"] == f1(PREDICTIONS, LABELS, threshold=0, average="macro")


def test_at_a_threshold_by_hand(ranked: Ranked, truth: Truth) -> None:
    # Scores 1, 0.55, 0.1 along each list: two labels of each text pass 0.5, of which three are among the five true.
    predictions, labels = ranked([[2, 1, 0], [1, 3, -1]]), truth([[0, 1, 2], [1, 2]], 4)
    found = at_threshold(predictions, labels, 0.5)
    assert (found["precision"], found["recall"]) == (3 / 4, 3 / 5)
    assert found["microf1"] == f1(predictions, labels, threshold=0.5) == 2 * 3 / (4 + 5)
    assert found["macrof1"] == f1(predictions, labels, threshold=0.5, average="macro")
    assert found["labels_per_text"] == 2
    assert at_threshold(predictions, labels, 2.0) == dict.fromkeys(found, 0.0)

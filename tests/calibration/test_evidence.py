"""Thresholds from evidence, compared with a search through all of them by the metrics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from treetop.calibration.aims import Aim
from treetop.calibration.evidence import ENOUGH, Evidence
from treetop.metrics import at_threshold
from treetop.metrics.ranking import judge
from treetop.predictions import Predictions

TEXTS, LABELS = 300, 8


@pytest.fixture(scope="module")
def drawn() -> tuple[Predictions, csr_array]:
    """Probabilities that are true, rounded so that many are equal; and two labels that no prediction has."""
    rng = np.random.default_rng(0)
    chance = np.round(rng.random((TEXTS, LABELS)) ** 2, 2).astype(np.float32)
    true = np.hstack([rng.random((TEXTS, LABELS)) < chance, rng.random((TEXTS, 2)) < 0.1])
    return Predictions.from_csr(csr_array(chance), LABELS), csr_array(true.astype(np.float32))


@pytest.fixture(scope="module")
def evidence(drawn: tuple[Predictions, csr_array]) -> Evidence:
    predictions, true = drawn
    return Evidence.of(judge(predictions, true, LABELS), predictions.scores, LABELS + 1)


def test_the_curve_is_what_the_metrics_say(drawn: tuple[Predictions, csr_array], evidence: Evidence) -> None:
    predictions, true = drawn
    curve = evidence.curve()
    assert (np.diff(curve.threshold) < 0).all()
    for place in range(0, len(curve.threshold), 7):
        expected = at_threshold(predictions, true, float(curve.threshold[place]))
        for name in ("precision", "recall", "microf1", "macrof1", "labels_per_text"):
            assert getattr(curve, name)[place] == pytest.approx(expected[name]), name


@pytest.mark.parametrize("goal", ["f1", "f1-macro"])
def test_the_best_f1(drawn: tuple[Predictions, csr_array], evidence: Evidence, goal: str) -> None:
    name = "microf1" if goal == "f1" else "macrof1"
    found = evidence.threshold(Aim(goal))  # type: ignore[arg-type]
    values = [at_threshold(*drawn, cut / 100)[name] for cut in range(1, 100)]
    assert at_threshold(*drawn, float(found))[name] == pytest.approx(max(values))


def test_as_many_as_a_precision_allows(drawn: tuple[Predictions, csr_array], evidence: Evidence) -> None:
    found = evidence.threshold(Aim("precision", 0.8))
    assert isinstance(found, float)
    assert at_threshold(*drawn, found)["precision"] >= 0.8
    assert all(at_threshold(*drawn, cut / 100)["precision"] < 0.8 for cut in range(1, round(100 * found)))


def test_a_precision_out_of_reach_accepts_nothing(evidence: Evidence) -> None:
    wrong = Evidence(evidence.label, evidence.probability, np.zeros_like(evidence.hit), evidence.true, evidence.texts)
    assert wrong.threshold(Aim("precision", 0.5)) == np.inf
    lucky = Evidence(evidence.label, evidence.probability, np.arange(len(evidence.hit)) == 0, evidence.true, TEXTS)
    assert lucky.threshold(Aim("precision", 0.9)) == np.inf  # a single right one is no proof


def test_labels_with_enough_texts_have_thresholds_of_their_own() -> None:
    """Label 0 is right from 0.3 on, label 1 from 0.7 on; label 2 has too few texts and gets what serves all."""
    steps = np.repeat(np.arange(1, 10) / 10, 10).astype(np.float32)
    label = np.repeat(np.arange(3, dtype=np.int32), len(steps))
    probability = np.tile(steps, 3)
    hit = probability > np.array([0.25, 0.65, 0.95])[label]
    order = np.argsort(-probability, kind="stable")
    true = np.array([hit[label == 0].sum(), hit[label == 1].sum(), ENOUGH - 1, 0])
    evidence = Evidence(label[order], probability[order], hit[order], true, 100)
    for aim in (Aim("f1", per_label=True), Aim("precision", 1.0, per_label=True)):
        own = evidence.threshold(aim)
        assert isinstance(own, np.ndarray)
        np.testing.assert_allclose(own[:2], [0.3, 0.7])
        assert own[2] == evidence.threshold(aim._replace(per_label=False))


def test_no_suggestions_at_all() -> None:
    none = Predictions(np.full((5, 2), -1, np.int32), np.zeros((5, 2), np.float32))
    empty = Evidence.of(judge(none, csr_array(np.eye(5, 3, dtype=np.float32)), 2), none.scores, 3)
    assert len(empty.curve().threshold) == 0
    for aim in (Aim("f1"), Aim("precision", 0.5)):
        assert empty.threshold(aim) == np.inf
    assert np.isinf(empty.threshold(Aim("f1", per_label=True))).all()

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from conftest import planted
from treetop.apps.measure import figures_of, measure
from treetop.data import Dataset
from treetop.errors import ConfigError, DataError
from treetop.methods.one_vs_all import OneVsAll
from treetop.metrics import brier_score, evaluate, expected_calibration_error
from treetop.predictions import Predictions


@pytest.fixture(scope="module")
def model(toy_train: Dataset) -> OneVsAll:
    return OneVsAll().fit(toy_train)


def test_figures_are_those_of_the_metrics(model: OneVsAll, toy_test: Dataset) -> None:
    figures = measure(model, toy_test, ["p@1", "ndcg@3"])
    assert figures.metrics == evaluate(model.predict(toy_test, 5), toy_test.labels, ["p@1", "ndcg@3"])
    flat = figures.flat()
    assert flat["texts"] == len(toy_test)
    assert flat["unseen_pairs"] == 0
    assert flat["seen_in_training"] == 0
    assert sum(band["pairs"] for band in figures.bands.values()) == pytest.approx(1)


def test_labels_never_seen_are_counted(model: OneVsAll, toy_test: Dataset) -> None:
    with_new = Dataset.build(["a text", "word0x1x1"], [["brand new"], ["label 0-1"]], space=model.space)
    assert measure(model, with_new, ["p@1"]).unseen == 1


def test_texts_seen_in_training_are_counted(model: OneVsAll, toy_train: Dataset) -> None:
    mixed = Dataset.build([toy_train.corpus.texts[0], "a text"], [["label 0-1"], []], space=model.space)
    assert measure(model, mixed, ["p@1"]).seen == 0.5
    unknown = copy.copy(model)
    unknown.learned = None
    assert measure(unknown, mixed, ["p@1"]).flat()["seen_in_training"] is None


def test_benchmarks_have_their_own_constants(model: OneVsAll, toy_test: Dataset) -> None:
    propensity = measure(model, toy_test, ["psp@1"], benchmark="amazon-670k").propensity
    assert propensity is not None
    assert propensity.a == 0.6
    with pytest.raises(ConfigError):
        measure(model, toy_test, ["psp@1"], benchmark="nowhere-12k")
    with pytest.raises(DataError, match="no texts"):
        measure(model, toy_test.take([]), ["p@1"])


def test_a_known_benchmark_brings_its_constants(model: OneVsAll, toy_test: Dataset) -> None:
    assert measure(model, toy_test, ["psp@1"]).benchmark is None
    known = copy.copy(model)
    known.training = {**model.training, "texts": 294_805}
    known.space = model.space.extended(map(str, range(131_073 - len(model.space))))
    known.frequency = np.ones(131_073, np.int64)
    wide = csr_array((toy_test.labels.data, toy_test.labels.indices, toy_test.labels.indptr), (len(toy_test), 131_073))
    test = Dataset(toy_test.corpus, wide, known.space)
    figures = figures_of(model.predict(toy_test, 5), test, ["psp@1"], model=known)
    assert figures.benchmark == "lf-amazon-131k"
    assert figures.propensity is not None
    assert (figures.propensity.a, figures.propensity.b) == (0.6, 2.6)


def test_pairs_that_do_not_count_leave_room_for_others(model: OneVsAll, toy_test: Dataset) -> None:
    best = model.predict(toy_test, 1).to_csr(len(model.space))
    left = replace(toy_test, filtered=best)
    found = model.predict(toy_test, 6)
    second = Predictions(found.labels[:, 1:], found.scores[:, 1:], found.names)
    assert measure(model, left, ["p@1", "r@5"]).metrics == evaluate(second, toy_test, ["p@1", "r@5"])


def test_calibration_and_decisions(model: OneVsAll, toy_test: Dataset) -> None:
    plain = measure(model, toy_test, ["p@1"])
    assert (plain.kind, plain.calibration, plain.diagram) == ("margin", {}, None)  # a margin is no probability
    sure = copy.copy(model).calibrate(planted(300, seed=5))
    figures = measure(sure, toy_test, ["r@10"], threshold="f1")
    found = sure.predict(toy_test, 50)
    assert figures.calibration["ece@10"] == expected_calibration_error(found, toy_test, k=10) < 0.03
    assert figures.calibration["brier@10"] == brier_score(found, toy_test, k=10)
    assert sure.calibration is not None
    assert figures.cut == sure.calibration.threshold("f1")
    assert figures.passed["microf1"] > 0.9
    flat = figures.flat()
    assert (flat["threshold"], flat["threshold_aim"]) == (figures.cut, "f1")
    assert sum(row["size"] for row in flat["reliability"]) == (found.labels[:, :10] >= 0).sum()
    assert "calibration/ece@10" not in figures.without_calibration().flat()
    each = measure(sure, toy_test, ["p@1"], threshold="f1-per-label")
    assert each.cut is None
    assert each.passed["microf1"] > 0.9
    with pytest.raises(ConfigError, match="only a calibrated model"):
        measure(model, toy_test, ["p@1"], threshold="f1")

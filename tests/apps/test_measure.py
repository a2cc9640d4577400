from __future__ import annotations

import copy

import pytest

from treetop.apps.measure import measure
from treetop.data import Dataset
from treetop.errors import ConfigError, DataError
from treetop.methods.one_vs_all import OneVsAll
from treetop.metrics import evaluate


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

"""How sure a metric is, and a difference between two systems."""

from __future__ import annotations

from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from rankings import Ranked, Truth
from treetop.errors import ConfigError
from treetop.metrics import Propensity, breakdown, evaluate, holm, paired_difference, spread, spread_of_bands
from treetop.metrics.differences import Difference
from treetop.predictions import Predictions

TRUE = [[0, 2], [1], [3, 4, 5], []]
RANKED = [[2, 1, 0], [0, -1, -1], [5, 3, 1], [1, 2, 3]]


def test_paired_difference_of_means_by_hand(ranked: Ranked, truth: Truth) -> None:
    # P@1 per text: first 1 1 0 0, second 0 1 0 1: differences 1 0 0 -1, mean 0, squares 2
    labels = truth([[0], [1], [2], [3]], 4)
    value, error = paired_difference(ranked([[0], [1], [0], [0]]), ranked([[1], [1], [0], [3]]), labels, "p@1")
    assert value == 0
    assert error == pytest.approx(sqrt(2 / (4 * 3)))


def test_paired_difference_of_ratios_by_hand(ranked: Ranked, truth: Truth) -> None:
    # Ideals 1 and 3 (weights equal, k = 3): first finds 1 and 1 of them, second 0 and 1; D = 2/4 - 1/4.
    labels = truth([[0], [1, 2, 3]], 4)
    a, b = ranked([[0, 1, 2], [1, 0, -1]]), ranked([[1, 2, 3], [1, 0, -1]])
    options: dict[str, Any] = {"frequency": np.ones(4), "propensity": Propensity(train_texts=100)}
    value, error = paired_difference(a, b, labels, "psp@3", **options)
    each = np.array([(1 - 0) - 0.25 * 1, (1 - 1) - 0.25 * 3]) / 2  # gain difference less its expectation, by mean ideal
    assert value == pytest.approx(0.25)
    assert error == pytest.approx(sqrt((each**2).sum() / 2))


@pytest.mark.parametrize("metric", ["p@3", "ndcg@5", "psp@3", "psndcg@5", "microf1@5"])
def test_standard_error_agrees_with_the_bootstrap(metric: str) -> None:
    rng = np.random.default_rng(0)
    labels = csr_array((rng.random((400, 30)) < 0.1).astype(np.float32))
    scores = labels.toarray() + rng.random((400, 30))
    a = Predictions.from_csr(csr_array(scores + 0.5 * rng.standard_normal((400, 30))), 5)
    b = Predictions.from_csr(csr_array(scores + 0.8 * rng.standard_normal((400, 30))), 5)
    options: dict[str, Any] = {"frequency": rng.integers(1, 200, 30), "propensity": Propensity(train_texts=1000)}
    value, error = paired_difference(a, b, labels, metric, **options)
    again = []
    for _ in range(300):
        texts = rng.integers(0, 400, 400, np.int32)
        first, second = (evaluate(one.rows(texts), labels[texts], [metric], **options)[metric] for one in (a, b))
        again.append(first - second)
    whole = [evaluate(one, labels, [metric], **options)[metric] for one in (a, b)]
    assert value == pytest.approx(whole[0] - whole[1])
    assert error == pytest.approx(np.std(again), rel=0.15)


def test_a_system_does_not_differ_from_itself(ranked: Ranked, truth: Truth) -> None:
    assert paired_difference(ranked(RANKED), ranked(RANKED), truth(TRUE, 6), "ndcg@3") == (0, 0)


def test_one_text_has_no_standard_error(ranked: Ranked, truth: Truth) -> None:
    value, error = paired_difference(ranked([[0]]), ranked([[1]]), truth([[0]], 2), "p@1")
    assert value == 1
    assert isnan(error)


@pytest.mark.parametrize("metric", ["macrof1@5", "coverage@5"])
def test_metrics_over_labels_have_no_paired_difference(ranked: Ranked, truth: Truth, metric: str) -> None:
    with pytest.raises(ConfigError, match="not a sum over texts"):
        paired_difference(ranked(RANKED), ranked(RANKED), truth(TRUE, 6), metric)


def test_a_spread_has_the_value_of_the_metric_and_its_standard_error(ranked: Ranked, truth: Truth) -> None:
    # P@1 per text: 1 0 1 0; squares around the mean 4 · 1/4
    labels, metrics = truth(TRUE, 6), ["p@1", "ndcg@3", "microf1@2"]
    found = spread(ranked(RANKED), labels, metrics)
    assert {name: one.value for name, one in found.items()} == evaluate(ranked(RANKED), labels, metrics)
    assert found["p@1"].standard_error == pytest.approx(sqrt(1 / (4 * 3)))
    assert all(one.each.sum() == pytest.approx(0) for one in found.values())


def test_spreads_of_bands_have_the_values_of_the_breakdown(ranked: Ranked, truth: Truth) -> None:
    labels, frequency = truth(TRUE, 6), np.array([200, 50, 50, 3, 1, 0])
    found = spread_of_bands(ranked(RANKED), labels, 3, frequency=frequency)
    whole = breakdown(ranked(RANKED), labels, ["p@3"], frequency=frequency)
    assert {band: one.value for band, one in found.items()} == {
        band: values["found@3"] for band, values in whole.items()
    }
    # tail: labels 3 and 4 of the third text, one of them found
    assert found["tail"].value == 0.5
    assert found["tail"].each.tolist() == [0, 0, 0, 0]


def test_a_difference_of_two_errors_is_rarely_chance() -> None:
    assert Difference(1.96, 1).p_value == pytest.approx(0.05, abs=1e-4)
    assert Difference(-1.96, 1).p_value == pytest.approx(0.05, abs=1e-4)
    assert Difference(0.5, float("nan")).p_value == 1
    assert Difference(0, 0).p_value == 1
    assert Difference(0.5, 0).p_value == 0


def test_of_many_differences_the_weak_ones_are_not_believed() -> None:
    assert holm([0.04]) == [True]
    assert holm([0.04, 0.04]) == [False, False]
    assert holm([0.04, 0.001, 0.02]) == [True, True, True]  # 0.001 < 5/3 %, 0.02 < 5/2 %, 0.04 < 5 %
    assert holm([0.04, 0.001, 0.03]) == [False, True, False]
    assert holm([]) == []

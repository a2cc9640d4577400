"""Metrics by name, their mistakes, and differences between two systems."""

from __future__ import annotations

from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from rankings import Ranked, Truth
from treetop.errors import ConfigError, DataError
from treetop.metrics import DEFAULT, PROPENSITY_SCORED, Propensity, evaluate, label_frequency, largest_k
from treetop.metrics.evaluate import paired_difference, parse
from treetop.predictions import Predictions

TRUE = [[0, 2], [1], [3, 4, 5], []]
RANKED = [[2, 1, 0], [0, -1, -1], [5, 3, 1], [1, 2, 3]]
PROPENSITY = Propensity(train_texts=100)


def test_the_order_asked_for_is_kept(ranked: Ranked, truth: Truth) -> None:
    names = ["r@3", "p@5", "ndcg@1", "p@1"]
    assert list(evaluate(ranked(RANKED), truth(TRUE, 6), names)) == names
    assert list(evaluate(ranked(RANKED), truth(TRUE, 6))) == list(DEFAULT)
    assert evaluate(ranked(RANKED), truth(TRUE, 6), []) == {}


def test_largest_k() -> None:
    assert largest_k(["p@1", "r@20", "psp@5"]) == 20
    assert largest_k([]) == 1


def test_label_frequency_counts_texts_with_a_positive_relevance() -> None:
    labels = csr_array(np.array([[0.5, 0, 2], [1, 0, 0]], np.float32))
    labels.data[0] = 0.0
    assert label_frequency(labels).tolist() == [1, 0, 1]


# --------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize("name", ["map@5", "P@1", "p@", "p", "p@0", "p@-1", "p@1.5", "p@five", "@5", "", "p@5@5"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(ConfigError):
        parse(name)


def test_unknown_names_get_the_list_and_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"'nDCG@5'.*did you mean 'ndcg@5'.*p, r, rp, ndcg, psp.*coverage"):
        parse("nDCG@5")


def test_propensity_metrics_say_what_they_miss(ranked: Ranked, truth: Truth) -> None:
    for name in PROPENSITY_SCORED:
        with pytest.raises(ConfigError, match=rf"{name} needs frequency="):
            evaluate(ranked(RANKED), truth(TRUE, 6), ["p@1", name])


def test_bad_frequencies(ranked: Ranked, truth: Truth) -> None:
    with pytest.raises(DataError, match="count >= 0 per label"):
        evaluate(ranked([[0]]), truth([[0]], 1), ["psp@1"], frequency=np.array([-1]), propensity=PROPENSITY)


# --------------------------------------------------------------------------- paired differences


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

"""Metrics by name, and their mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from rankings import Ranked, Truth
from treetop.errors import ConfigError, DataError
from treetop.metrics import DEFAULT, PROPENSITY_SCORED, Propensity, evaluate, label_frequency, largest_k
from treetop.metrics.evaluate import parse

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


def test_one_metric_may_be_named_alone(ranked: Ranked, truth: Truth) -> None:
    given = ranked(RANKED), truth(TRUE, 6)
    assert evaluate(*given, "p@1") == evaluate(*given, ["p@1"])


def test_what_is_no_prediction_is_refused(ranked: Ranked, truth: Truth) -> None:
    for wrong in ([["x"]], truth(TRUE, 6), None):
        with pytest.raises(DataError, match=r"evaluate takes what model\.predict\(texts\) gives.* this is a \w+"):
            evaluate(wrong, ranked(RANKED))  # type: ignore[arg-type]

"""Metrics against numbers worked out by hand, and against a longhand oracle that looks at one text at a time."""

from __future__ import annotations

import tracemalloc
from math import isnan, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from treetop.errors import ConfigError, DataError
from treetop.metrics import DEFAULT, PROPENSITY_SCORED, Propensity, evaluate, label_frequency, largest_k
from treetop.metrics.evaluate import NAMES, paired_difference, parse
from treetop.predictions import Predictions

D2, D3 = 1 / log2(3), 1 / 2  # discounts of the second and third place

# Four texts, labels 0..5. Label 5 was never seen in training, label 9 is one the truth has no column for.
TRUE = [[0, 2], [1], [3, 4, 5], []]
RANKED = [[2, 1, 0], [0, -1, -1], [9, 3, 4], [1, 2, 3]]
#          1  0  1   0            0  1  1    0  0  0      hits
FREQUENCY = np.array([3, 1, 1, 3, 0])  # with A = B = 1 the weights are h, l, l, h, u and u for label 5
PROPENSITY = Propensity(train_texts=100, a=1.0, b=1.0)
H, L, U = 1 + (log(100) - 1) / 2, log(100), 2 * log(100) - 1

BY_HAND = {
    "p@1": (1 + 0 + 0 + 0) / 4,
    "p@2": (1 + 0 + 1 + 0) / 8,
    "p@3": (2 + 0 + 2 + 0) / 12,
    "p@5": (2 + 0 + 2 + 0) / 20,  # lists of three count as filled with wrong labels
    "r@1": (1 / 2 + 0 + 0 + 0) / 4,
    "r@3": (2 / 2 + 0 + 2 / 3 + 0) / 4,
    "rp@1": (1 + 0 + 0 + 0) / 4,
    "rp@2": (1 / 2 + 0 + 1 / 2 + 0) / 4,
    "rp@3": (2 / 2 + 0 + 2 / 3 + 0) / 4,
    "ndcg@1": 1 / 4,
    "ndcg@3": ((1 + D3) / (1 + D2) + 0 + (D2 + D3) / (1 + D2 + D3) + 0) / 4,
    "psp@1": L / (L + L + U),
    "psp@2": (L + H) / ((L + H) + L + 2 * U),
    "psp@3": (L + H + H + U) / ((L + H) + L + (2 * U + H)),
    "psndcg@3": (L + D3 * H + D2 * H + D3 * U) / ((L + D2 * H) + L + (U + D2 * U + D3 * H)),
    "microf1@1": 2 * 1 / (4 + 6),
    "microf1@3": 2 * 4 / (10 + 6),
    # label: true, predicted, hit at 3 | 0: 1 2 1 | 1: 1 2 0 | 2: 1 2 1 | 3: 1 2 1 | 4: 1 1 1 | 5: 1 0 0
    "macrof1@3": (2 / 3 + 0 + 2 / 3 + 2 / 3 + 1 + 0) / 6,
    "coverage@3": 4 / 6,
    "coverage@1": 1 / 6,
}


def sparse(rows, width, value=1.0):
    matrix = np.zeros((len(rows), width), np.float32)
    for text, row in enumerate(rows):
        matrix[text, row] = value
    return csr_array(matrix)


def ranked(rows):
    labels = np.array(rows, np.int32)
    scores = np.where(labels >= 0, np.linspace(1, 0.1, labels.shape[1]), 0)
    return Predictions(labels, scores.astype(np.float32))


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name):
    found = evaluate(ranked(RANKED), sparse(TRUE, 6), [name], frequency=FREQUENCY, propensity=PROPENSITY)
    assert found == {name: pytest.approx(BY_HAND[name], abs=1e-12)}


# --------------------------------------------------------------------------- the longhand oracle


def oracle_text(kind, ranking, true, k, weight):
    """Gain and ideal of one text."""
    gain = ideal = 0.0
    for place, label in enumerate(ranking[:k]):
        discount = 1 / log2(place + 2) if kind in ("ndcg", "psndcg") else 1.0
        if label in true:
            gain += discount * (weight[label] if kind in ("psp", "psndcg") else 1.0)
    if kind == "p":
        ideal = k
    elif kind == "r":
        ideal = len(true)
    elif kind == "microf1":
        gain, ideal = 2 * gain, len(true) + len([label for label in ranking[:k] if label >= 0])
    else:
        worth = sorted((weight[label] if kind in ("psp", "psndcg") else 1.0 for label in true), reverse=True)
        for place, value in enumerate(worth[:k]):
            ideal += value * (1 / log2(place + 2) if kind in ("ndcg", "psndcg") else 1.0)
    return gain, ideal


def oracle_label(kind, rankings, truths, k):
    values = []
    for label in sorted({label for true in truths for label in true}):
        true = sum(label in one for one in truths)
        predicted = sum(label in one[:k] for one in rankings)
        hit = sum(label in one[:k] and label in other for one, other in zip(rankings, truths, strict=True))
        values.append(2 * hit / (true + predicted) if kind == "macrof1" else float(hit > 0))
    return sum(values) / len(values) if values else 0.0


def oracle(kind, rankings, truths, k, weight):
    if kind in ("macrof1", "coverage"):
        return oracle_label(kind, rankings, truths, k)
    pairs = [oracle_text(kind, one, true, k, weight) for one, true in zip(rankings, truths, strict=True)]
    if kind in ("psp", "psndcg", "microf1"):
        total = sum(ideal for _, ideal in pairs)
        return sum(gain for gain, _ in pairs) / total if total else 0.0
    return sum(gain / ideal if ideal else 0.0 for gain, ideal in pairs) / len(pairs)


@st.composite
def cases(draw):
    width, known = draw(st.integers(1, 12)), draw(st.integers(1, 14))
    texts, k = draw(st.integers(1, 8)), draw(st.integers(1, 7))
    truths = [draw(st.sets(st.integers(0, width - 1))) for _ in range(texts)]
    lists = [draw(st.lists(st.integers(0, known - 1), unique=True, max_size=k)) for _ in range(texts)]
    rankings = [one + [-1] * (k - len(one)) for one in lists]
    frequency = np.array(draw(st.lists(st.integers(0, 50), min_size=1, max_size=width)))
    return rankings, truths, width, frequency


@settings(max_examples=200, deadline=None)
@given(cases(), st.integers(1, 9), st.integers(3, 10**6))
def test_equals_the_oracle(case, k, train_texts):
    rankings, truths, width, frequency = case
    propensity = Propensity(train_texts=train_texts)
    names = [f"{kind}@{k}" for kind in NAMES]
    labels = sparse([sorted(true) for true in truths], width)
    found = evaluate(ranked(rankings), labels, names, frequency=frequency, propensity=propensity)
    weight = propensity.inverse(np.append(frequency, np.zeros(width)))
    assert list(found) == names
    for kind in NAMES:
        value = found[f"{kind}@{k}"]
        assert value == pytest.approx(oracle(kind, rankings, truths, k, weight), abs=1e-9)
        assert 0 <= value <= 1 + 1e-12
        assert type(value) is float


@settings(max_examples=50, deadline=None)
@given(cases())
def test_a_perfect_ranking_reaches_every_ideal(case):
    _, truths, width, frequency = case
    truths = [true or {0} for true in truths]
    k = max(len(true) for true in truths)
    propensity = Propensity(train_texts=1000)
    weight = propensity.inverse(np.append(frequency, np.zeros(width)))
    best = [sorted(true, key=lambda label: -weight[label]) for true in truths]
    rankings = [one + [-1] * (k - len(one)) for one in best]
    names = [f"{kind}@{k}" for kind in NAMES if kind != "p"]
    labels = sparse([sorted(true) for true in truths], width)
    found = evaluate(ranked(rankings), labels, names, frequency=frequency, propensity=propensity)
    assert found == pytest.approx(dict.fromkeys(names, 1.0))


# --------------------------------------------------------------------------- conventions


def test_only_relevance_above_zero_is_true():
    weighted = csr_array((np.array([0.2, 3.0, 0.0, -1.0], np.float32), np.array([0, 1, 2, 3]), np.array([0, 4])))
    assert evaluate(ranked([[0, 1, 2, 3]]), weighted, ["p@4", "r@4"]) == {"p@4": 0.5, "r@4": 1.0}


def test_the_truth_is_left_as_it_was():
    labels = csr_array((np.array([0.5, 0.0], np.float32), np.array([3, 1]), np.array([0, 2])), shape=(1, 4))
    evaluate(ranked([[3]]), labels, ["p@1"])
    assert labels.data.tolist() == [0.5, 0.0]
    assert labels.indices.tolist() == [3, 1]


def test_labels_unknown_to_the_model_count_as_true():
    assert evaluate(ranked([[0]]), sparse([[0, 7]], 8), ["r@1"]) == {"r@1": 0.5}


def test_labels_the_truth_has_no_column_for_are_misses():
    # 3 texts × 2 columns: a careless flat index of label 2 in text 0 would be label 0 of text 1
    assert evaluate(ranked([[2], [3], [0]]), sparse([[1], [0], [0]], 2), ["p@1"]) == {"p@1": pytest.approx(1 / 3)}


def test_without_any_true_label_everything_is_zero():
    names = [f"{kind}@2" for kind in NAMES]
    found = evaluate(ranked([[0, 1]]), csr_array((1, 3)), names, frequency=FREQUENCY, propensity=PROPENSITY)
    assert found == dict.fromkeys(names, 0.0)


def test_without_any_prediction_everything_is_zero():
    names = [f"{kind}@2" for kind in NAMES]
    empty = Predictions(np.full((2, 0), -1, np.int32), np.zeros((2, 0), np.float32))
    found = evaluate(empty, sparse([[0], [1]], 2), names, frequency=FREQUENCY, propensity=PROPENSITY)
    assert found == dict.fromkeys(names, 0.0)


def test_the_order_asked_for_is_kept():
    names = ["r@3", "p@5", "ndcg@1", "p@1"]
    assert list(evaluate(ranked(RANKED), sparse(TRUE, 6), names)) == names
    assert list(evaluate(ranked(RANKED), sparse(TRUE, 6))) == list(DEFAULT)
    assert evaluate(ranked(RANKED), sparse(TRUE, 6), []) == {}


def test_largest_k():
    assert largest_k(["p@1", "r@20", "psp@5"]) == 20
    assert largest_k([]) == 1


def test_label_frequency_counts_texts_with_a_positive_relevance():
    labels = csr_array(np.array([[0.5, 0, 2], [1, 0, 0]], np.float32))
    labels.data[0] = 0.0
    assert label_frequency(labels).tolist() == [1, 0, 1]


# --------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize("name", ["map@5", "P@1", "p@", "p", "p@0", "p@-1", "p@1.5", "p@five", "@5", "", "p@5@5"])
def test_unknown_names(name):
    with pytest.raises(ConfigError):
        parse(name)


def test_unknown_names_get_the_list_and_the_nearest():
    with pytest.raises(ConfigError, match=r"'nDCG@5'.*did you mean 'ndcg@5'.*p, r, rp, ndcg, psp.*coverage"):
        parse("nDCG@5")


def test_propensity_metrics_say_what_they_miss():
    for name in PROPENSITY_SCORED:
        with pytest.raises(ConfigError, match=rf"{name} needs frequency="):
            evaluate(ranked(RANKED), sparse(TRUE, 6), ["p@1", name])


def test_mismatched_texts():
    with pytest.raises(DataError, match=r"4 texts.*3 texts"):
        evaluate(ranked(RANKED), sparse(TRUE[:3], 6))


def test_no_texts():
    with pytest.raises(DataError, match="no texts"):
        evaluate(ranked(np.zeros((0, 3))), csr_array((0, 6)))


def test_a_label_listed_twice_is_refused():
    with pytest.raises(DataError, match="label 2 is predicted twice for text 1"):
        evaluate(ranked([[0, 1, 2], [2, 0, 2]]), sparse([[0], [2]], 3), ["p@3"])


def test_bad_frequencies():
    with pytest.raises(DataError, match="count >= 0 per label"):
        evaluate(ranked([[0]]), sparse([[0]], 1), ["psp@1"], frequency=np.array([-1]), propensity=PROPENSITY)


# --------------------------------------------------------------------------- paired differences


def test_paired_difference_of_means_by_hand():
    # P@1 per text: first 1 1 0 0, second 0 1 0 1: differences 1 0 0 -1, mean 0, squares 2
    labels = sparse([[0], [1], [2], [3]], 4)
    value, error = paired_difference(ranked([[0], [1], [0], [0]]), ranked([[1], [1], [0], [3]]), labels, "p@1")
    assert value == 0
    assert error == pytest.approx(sqrt(2 / (4 * 3)))


def test_paired_difference_of_ratios_by_hand():
    # Ideals 1 and 3 (weights equal, k = 3): first finds 1 and 1 of them, second 0 and 1; D = 2/4 - 1/4.
    labels = sparse([[0], [1, 2, 3]], 4)
    a, b = ranked([[0, 1, 2], [1, 0, -1]]), ranked([[1, 2, 3], [1, 0, -1]])
    options = {"frequency": np.ones(4), "propensity": Propensity(train_texts=100)}
    value, error = paired_difference(a, b, labels, "psp@3", **options)
    each = np.array([(1 - 0) - 0.25 * 1, (1 - 1) - 0.25 * 3]) / 2  # gain difference less its expectation, by mean ideal
    assert value == pytest.approx(0.25)
    assert error == pytest.approx(sqrt((each**2).sum() / 2))


@pytest.mark.parametrize("metric", ["p@3", "ndcg@5", "psp@3", "psndcg@5", "microf1@5"])
def test_standard_error_agrees_with_the_bootstrap(metric):
    rng = np.random.default_rng(0)
    labels = csr_array((rng.random((400, 30)) < 0.1).astype(np.float32))
    scores = labels.toarray() + rng.random((400, 30))
    a = Predictions.from_csr(csr_array(scores + 0.5 * rng.standard_normal((400, 30))), 5)
    b = Predictions.from_csr(csr_array(scores + 0.8 * rng.standard_normal((400, 30))), 5)
    options = {"frequency": rng.integers(1, 200, 30), "propensity": Propensity(train_texts=1000)}
    value, error = paired_difference(a, b, labels, metric, **options)
    again = []
    for _ in range(300):
        texts = rng.integers(0, 400, 400)
        first, second = (evaluate(one.rows(texts), labels[texts], [metric], **options)[metric] for one in (a, b))
        again.append(first - second)
    whole = [evaluate(one, labels, [metric], **options)[metric] for one in (a, b)]
    assert value == pytest.approx(whole[0] - whole[1])
    assert error == pytest.approx(np.std(again), rel=0.15)


def test_a_system_does_not_differ_from_itself():
    assert paired_difference(ranked(RANKED), ranked(RANKED), sparse(TRUE, 6), "ndcg@3") == (0, 0)


def test_one_text_has_no_standard_error():
    value, error = paired_difference(ranked([[0]]), ranked([[1]]), sparse([[0]], 2), "p@1")
    assert value == 1
    assert isnan(error)


@pytest.mark.parametrize("metric", ["macrof1@5", "coverage@5"])
def test_metrics_over_labels_have_no_paired_difference(metric):
    with pytest.raises(ConfigError, match="not a sum over texts"):
        paired_difference(ranked(RANKED), ranked(RANKED), sparse(TRUE, 6), metric)


# --------------------------------------------------------------------------- cost


def test_memory_grows_with_texts_and_labels_not_with_their_product():
    rng = np.random.default_rng(0)
    texts, labels, k = 20_000, 1_000_000, 5
    columns = np.sort(rng.integers(0, labels // 4, (texts, 4)) + np.arange(4) * (labels // 4), axis=1)
    true = csr_array((np.ones(texts * 4, np.float32), columns.ravel().astype(np.int32), np.arange(texts + 1) * 4))
    true.resize((texts, labels))
    best = np.concatenate([columns[:, :2], columns[:, 2:3] + 1, columns[:, 3:] - 1], axis=1).astype(np.int32)
    tracemalloc.start()
    options = {"frequency": np.ones(labels, np.int64), "propensity": Propensity(train_texts=texts)}
    found = evaluate(ranked(best), true, ["p@2", "r@5", *PROPENSITY_SCORED, *DEFAULT], **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found["p@2"] == 1
    assert peak < 100 * (texts * (k + 4) + labels)

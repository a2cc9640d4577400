"""Metrics against numbers worked out by hand, and against a longhand oracle that looks at one text at a time."""

from __future__ import annotations

import tracemalloc
from math import log, log2
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rankings import Ranked, Truth
from treetop.errors import DataError
from treetop.metrics import DEFAULT, PROPENSITY_SCORED, Propensity, evaluate
from treetop.metrics.evaluate import NAMES
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


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(ranked: Ranked, truth: Truth, name: str) -> None:
    found = evaluate(ranked(RANKED), truth(TRUE, 6), [name], frequency=FREQUENCY, propensity=PROPENSITY)
    assert found == {name: pytest.approx(BY_HAND[name], abs=1e-12)}


# --------------------------------------------------------------------------- the longhand oracle


def oracle_text(kind: str, ranking: list[int], true: set[int], k: int, weight: NDArray[Any]) -> tuple[float, float]:
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


def oracle_label(kind: str, rankings: list[list[int]], truths: list[set[int]], k: int) -> float:
    values = []
    for label in sorted({label for true in truths for label in true}):
        true = sum(label in one for one in truths)
        predicted = sum(label in one[:k] for one in rankings)
        hit = sum(label in one[:k] and label in other for one, other in zip(rankings, truths, strict=True))
        values.append(2 * hit / (true + predicted) if kind == "macrof1" else float(hit > 0))
    return sum(values) / len(values) if values else 0.0


def oracle(kind: str, rankings: list[list[int]], truths: list[set[int]], k: int, weight: NDArray[Any]) -> float:
    if kind in ("macrof1", "coverage"):
        return oracle_label(kind, rankings, truths, k)
    pairs = [oracle_text(kind, one, true, k, weight) for one, true in zip(rankings, truths, strict=True)]
    if kind in ("psp", "psndcg", "microf1"):
        total = sum(ideal for _, ideal in pairs)
        return sum(gain for gain, _ in pairs) / total if total else 0.0
    return sum(gain / ideal if ideal else 0.0 for gain, ideal in pairs) / len(pairs)


Case: TypeAlias = tuple[list[list[int]], list[set[int]], int, NDArray[Any]]
"""Rankings, truths, number of labels, frequency of some."""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    width, known = draw(st.integers(1, 12)), draw(st.integers(1, 14))
    texts, k = draw(st.integers(1, 8)), draw(st.integers(1, 7))
    truths = [draw(st.sets(st.integers(0, width - 1))) for _ in range(texts)]
    lists = [draw(st.lists(st.integers(0, known - 1), unique=True, max_size=k)) for _ in range(texts)]
    rankings = [one + [-1] * (k - len(one)) for one in lists]
    frequency = np.array(draw(st.lists(st.integers(0, 50), min_size=1, max_size=width)))
    return rankings, truths, width, frequency


@settings(max_examples=200)
@given(cases(), st.integers(1, 9), st.integers(3, 10**6))
def test_equals_the_oracle(ranked: Ranked, truth: Truth, case: Case, k: int, train_texts: int) -> None:
    rankings, truths, width, frequency = case
    propensity = Propensity(train_texts=train_texts)
    names = [f"{kind}@{k}" for kind in NAMES]
    labels = truth([sorted(true) for true in truths], width)
    found = evaluate(ranked(rankings), labels, names, frequency=frequency, propensity=propensity)
    weight = propensity.inverse(np.append(frequency, np.zeros(width)))
    assert list(found) == names
    for kind in NAMES:
        value = found[f"{kind}@{k}"]
        assert value == pytest.approx(oracle(kind, rankings, truths, k, weight), abs=1e-9)
        assert 0 <= value <= 1 + 1e-12
        assert type(value) is float


@settings(max_examples=50)
@given(cases())
def test_a_perfect_ranking_reaches_every_ideal(ranked: Ranked, truth: Truth, case: Case) -> None:
    _, truths, width, frequency = case
    truths = [true or {0} for true in truths]
    k = max(len(true) for true in truths)
    propensity = Propensity(train_texts=1000)
    weight = propensity.inverse(np.append(frequency, np.zeros(width)))
    best = [sorted(true, key=lambda label: -weight[label]) for true in truths]
    rankings = [one + [-1] * (k - len(one)) for one in best]
    names = [f"{kind}@{k}" for kind in NAMES if kind != "p"]
    labels = truth([sorted(true) for true in truths], width)
    found = evaluate(ranked(rankings), labels, names, frequency=frequency, propensity=propensity)
    assert found == pytest.approx(dict.fromkeys(names, 1.0))


# --------------------------------------------------------------------------- conventions


def test_only_relevance_above_zero_is_true(ranked: Ranked) -> None:
    weighted = csr_array((np.array([0.2, 3.0, 0.0, -1.0], np.float32), np.array([0, 1, 2, 3]), np.array([0, 4])))
    assert evaluate(ranked([[0, 1, 2, 3]]), weighted, ["p@4", "r@4"]) == {"p@4": 0.5, "r@4": 1.0}


def test_the_truth_is_left_as_it_was(ranked: Ranked) -> None:
    labels = csr_array((np.array([0.5, 0.0], np.float32), np.array([3, 1]), np.array([0, 2])), shape=(1, 4))
    evaluate(ranked([[3]]), labels, ["p@1"])
    assert labels.data.tolist() == [0.5, 0.0]
    assert labels.indices.tolist() == [3, 1]


def test_labels_unknown_to_the_model_count_as_true(ranked: Ranked, truth: Truth) -> None:
    assert evaluate(ranked([[0]]), truth([[0, 7]], 8), ["r@1"]) == {"r@1": 0.5}


def test_labels_the_truth_has_no_column_for_are_misses(ranked: Ranked, truth: Truth) -> None:
    # 3 texts × 2 columns: a careless flat index of label 2 in text 0 would be label 0 of text 1
    assert evaluate(ranked([[2], [3], [0]]), truth([[1], [0], [0]], 2), ["p@1"]) == {"p@1": pytest.approx(1 / 3)}


def test_without_any_true_label_everything_is_zero(ranked: Ranked) -> None:
    names = [f"{kind}@2" for kind in NAMES]
    found = evaluate(ranked([[0, 1]]), csr_array((1, 3)), names, frequency=FREQUENCY, propensity=PROPENSITY)
    assert found == dict.fromkeys(names, 0.0)


def test_without_any_prediction_everything_is_zero(truth: Truth) -> None:
    names = [f"{kind}@2" for kind in NAMES]
    empty = Predictions(np.full((2, 0), -1, np.int32), np.zeros((2, 0), np.float32))
    found = evaluate(empty, truth([[0], [1]], 2), names, frequency=FREQUENCY, propensity=PROPENSITY)
    assert found == dict.fromkeys(names, 0.0)


def test_mismatched_texts(ranked: Ranked, truth: Truth) -> None:
    with pytest.raises(DataError, match=r"4 texts.*3 texts"):
        evaluate(ranked(RANKED), truth(TRUE[:3], 6))


def test_no_texts() -> None:
    with pytest.raises(DataError, match="no texts"):
        evaluate(Predictions(np.zeros((0, 3), np.int32), np.zeros((0, 3), np.float32)), csr_array((0, 6)))


def test_a_label_listed_twice_is_refused(ranked: Ranked, truth: Truth) -> None:
    with pytest.raises(DataError, match="label 2 is predicted twice for text 1"):
        evaluate(ranked([[0, 1, 2], [2, 0, 2]]), truth([[0], [2]], 3), ["p@3"])


def test_memory_grows_with_texts_and_labels_not_with_their_product(ranked: Ranked) -> None:
    rng = np.random.default_rng(0)
    texts, labels, k = 20_000, 1_000_000, 5
    columns = np.sort(rng.integers(0, labels // 4, (texts, 4)) + np.arange(4) * (labels // 4), axis=1)
    true = csr_array(
        (np.ones(texts * 4, np.float32), columns.ravel().astype(np.int32), np.arange(texts + 1) * 4),
        shape=(texts, labels),
    )
    best = np.concatenate([columns[:, :2], columns[:, 2:3] + 1, columns[:, 3:] - 1], axis=1).astype(np.int32)
    tracemalloc.start()
    options: dict[str, Any] = {"frequency": np.ones(labels, np.int64), "propensity": Propensity(train_texts=texts)}
    found = evaluate(ranked(best.tolist()), true, ["p@2", "r@5", *PROPENSITY_SCORED, *DEFAULT], **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found["p@2"] == 1
    assert peak < 100 * (texts * (k + 4) + labels)

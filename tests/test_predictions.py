"""Ranked lists against dense numpy; fusers against their definitions, one text and one label at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from treetop.errors import ConfigError, DataError
from treetop.predictions import FUSERS, Kind, Predictions, Suggestion, fuse
from treetop.sparse import canonical
from treetop.types import CSR

WIDTH = 7
SCORES = st.sampled_from([-3.0, -1.0, 0.0, 0.25, 0.5, 0.5, 1.0, 4.0])


@st.composite
def scored(draw: st.DrawFn) -> list[dict[int, float]]:
    """Per text: label → score; a score of zero is a score."""
    return draw(st.lists(st.dictionaries(st.integers(0, WIDTH - 1), SCORES), min_size=1, max_size=4))


def matrix(rows: list[dict[int, float]]) -> CSR:
    indptr = np.cumsum([0, *(len(row) for row in rows)])
    columns = [label for row in rows for label in sorted(row)]
    values = [row[label] for row in rows for label in sorted(row)]
    return csr_array((np.array(values, np.float32), np.array(columns, np.int32), indptr), shape=(len(rows), WIDTH))


def ranking(row: dict[int, float]) -> list[int]:
    return sorted(row, key=lambda label: (-row[label], label))


def as_rows(predictions: Predictions) -> list[dict[int, float]]:
    pairs = zip(predictions.labels.tolist(), predictions.scores.tolist(), strict=True)
    return [{lab: score for lab, score in zip(*pair, strict=True) if lab >= 0} for pair in pairs]


@given(scored(), st.integers(1, 9))
def test_from_csr_ranks_with_ties_to_the_lower_label(rows: list[dict[int, float]], k: int) -> None:
    predictions = Predictions.from_csr(matrix(rows), k)
    assert (len(predictions), predictions.k) == (len(rows), k)
    assert predictions.labels.dtype == np.int32
    assert predictions.scores.dtype == np.float32
    for text, row in enumerate(rows):
        best = ranking(row)[:k]
        missing = k - len(best)
        assert predictions.labels[text].tolist() == best + [-1] * missing
        assert predictions.scores[text].tolist() == [row[label] for label in best] + [0.0] * missing


@given(scored())
def test_there_and_back_again(rows: list[dict[int, float]]) -> None:
    csr = matrix(rows)
    again = Predictions.from_csr(csr, WIDTH).to_csr(WIDTH)
    np.testing.assert_array_equal(again.indptr, csr.indptr)
    np.testing.assert_array_equal(again.indices, csr.indices)
    np.testing.assert_array_equal(again.data, csr.data)


@given(scored(), st.integers(1, 9), st.integers(1, 9))
def test_the_top_of_a_list_is_the_shorter_list(rows: list[dict[int, float]], k: int, shorter: int) -> None:
    cut = Predictions.from_csr(matrix(rows), k).top(shorter)
    expected = Predictions.from_csr(matrix(rows), min(k, shorter))
    np.testing.assert_array_equal(cut.labels, expected.labels)
    np.testing.assert_array_equal(cut.scores, expected.scores)


def test_suggestions_have_names() -> None:
    labels, scores = np.array([[1, 0], [2, -1]], np.int32), np.array([[0.5, 0.25], [1, 0]], np.float32)
    named = Predictions(labels, scores, ("apple", "pear", "plum"))
    assert named[0] == [Suggestion("pear", 0.5), Suggestion("apple", 0.25)]
    assert list(named) == [named[0], [Suggestion("plum", 1.0)]]
    assert Predictions(labels, scores)[1] == [Suggestion("2", 1.0)]
    assert named.rows(np.array([1, 0, 1])).labels.tolist() == [[2, -1], [1, 0], [2, -1]]
    assert named.rows(slice(1)).names == named.names
    assert named.top(1)[0] == [Suggestion("pear", 0.5)]


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one(k: int) -> None:
    some = Predictions.from_csr(matrix([{1: 1.0}]), 2)
    mistakes: list[Callable[[], object]] = [
        lambda: Predictions.from_csr(matrix([{}]), k),
        lambda: some.top(k),
        lambda: fuse([some], k=k),
    ]
    for mistake in mistakes:
        with pytest.raises(ConfigError, match=f"k is {k}"):
            mistake()


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(DataError, match=r"\(1, 2\) and scores \(1, 3\)"):
        Predictions(np.zeros((1, 2), np.int32), np.zeros((1, 3), np.float32))
    with pytest.raises(DataError, match="label 5 does not fit into 5 columns"):
        Predictions(np.array([[5]], np.int32), np.ones((1, 1), np.float32)).to_csr(5)


# --------------------------------------------------------------------------- fusion, longhand


def value(how: str, row: dict[int, float], label: int, depth: int) -> float:
    """What one list thinks of one label; zero if it is not in the list."""
    if label not in row:
        return 0.0
    if how == "average":
        return row[label]
    if how == "rank_average":
        return depth - ranking(row).index(label)
    if how == "sigmoid_average":
        return 1 / (1 + math.exp(-row[label]))
    return math.exp(row[label]) / sum(math.exp(score) for score in row.values())


def longhand(how: str, lists: list[dict[int, float]], shares: NDArray[np.float64], depth: int) -> dict[int, float]:
    """Label → fused score for one text."""
    fused = {}
    for label in {label for row in lists for label in row}:
        fused[label] = sum(w * value(how, row, label, depth) for w, row in zip(shares, lists, strict=True))
    return fused


Case: TypeAlias = tuple[list[Predictions], list[float] | None]
"""Lists to fuse, and their weights."""


@st.composite
def several(draw: st.DrawFn) -> Case:
    texts = draw(st.integers(1, 3))
    count = draw(st.integers(1, 3))
    row = st.dictionaries(st.integers(0, WIDTH - 1), SCORES)
    lists = [[draw(row) for _ in range(texts)] for _ in range(count)]
    depths = [draw(st.integers(1, WIDTH)) for _ in range(count)]
    weights = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=count, max_size=count))
    return [Predictions.from_csr(matrix(rows), depth) for rows, depth in zip(lists, depths, strict=True)], weights


@settings(max_examples=200)
@given(several(), st.sampled_from([how for how in FUSERS if how != "round_robin"]))
def test_means_as_defined(case: Case, how: str) -> None:
    lists, weights = case
    shares = np.ones(len(lists)) if weights is None else np.array(weights)
    shares = shares / shares.sum()
    depth = max(one.k for one in lists)
    fused = fuse(lists, how, weights=weights, k=WIDTH)
    for text, found in enumerate(as_rows(fused)):
        expected = longhand(how, [as_rows(one)[text] for one in lists], shares, depth)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-7)
        assert list(found) == ranking(found)


@settings(max_examples=100)
@given(several())
def test_round_robin_as_defined(case: Case) -> None:
    lists, _ = case
    fused = fuse(lists, "round_robin", k=WIDTH)
    for text in range(len(fused)):
        expected = []
        for place in range(WIDTH):
            for one in lists:
                label = one.labels[text, place] if place < one.k else -1
                if label >= 0 and label not in expected:
                    expected.append(int(label))
        assert [label for label in fused.labels[text].tolist() if label >= 0] == expected


@given(several(), st.sampled_from(FUSERS))
def test_inputs_are_never_changed(case: Case, how: str) -> None:
    lists, _ = case
    before = [(one.labels.copy(), one.scores.copy()) for one in lists]
    for one in lists:
        one.labels.flags.writeable = one.scores.flags.writeable = False
    fused = fuse(lists, how)
    assert fused.k == max(one.k for one in lists)
    for one, (labels, scores) in zip(lists, before, strict=True):
        np.testing.assert_array_equal(one.labels, labels)
        np.testing.assert_array_equal(one.scores, scores)
        assert not np.shares_memory(fused.scores, one.scores)


@given(several(), st.sampled_from(FUSERS))
def test_a_text_is_fused_alone(case: Case, how: str) -> None:
    lists, _ = case
    whole = fuse(lists, how)
    for text in range(len(whole)):
        alone = fuse([one.rows(np.array([text])) for one in lists], how)
        np.testing.assert_array_equal(alone.labels[0], whole.labels[text])
        np.testing.assert_array_equal(alone.scores[0], whole.scores[text])


def test_by_hand() -> None:
    a = Predictions(np.array([[0, 1, 2]], np.int32), np.array([[0.9, 0.6, 0.0]], np.float32), ("a", "b", "c", "d"))
    b = Predictions(np.array([[3, 1]], np.int32), np.array([[0.8, 0.7]], np.float32))
    assert fuse([a, b]).labels.tolist() == [[1, 0, 3]]  # 0.65, 0.45, 0.4
    assert fuse([a, b], k=4)[0][-1] == ("c", 0.0)  # a score of zero is still a suggestion
    assert fuse([a, b], "rank_average", k=4).scores.tolist() == [[2.0, 1.5, 1.5, 0.5]]  # b: 2+2, a: 3, d: 3, c: 1
    assert fuse([a, b], "rank_average", k=4).labels.tolist() == [[1, 0, 3, 2]]
    assert fuse([a, b], "round_robin", k=4).labels.tolist() == [[0, 3, 1, 2]]
    assert fuse([a, b], weights=[0, 2]).labels.tolist() == [[3, 1, 0]]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("how", FUSERS)
def test_extreme_scores_and_empty_lists(how: str) -> None:
    a = Predictions(np.array([[0, 1], [-1, -1]], np.int32), np.array([[1e4, -1e4], [0, 0]], np.float32))
    fused = fuse([a, a], how)
    assert fused.labels.tolist() == [[0, 1], [-1, -1]]
    assert np.isfinite(fused.scores).all()


def test_round_robin_of_long_lists_keeps_all_places_apart() -> None:
    lists = [Predictions.from_csr(csr_array(np.random.default_rng(n).random((1, 400))), 300) for n in range(3)]
    fused = fuse(lists, "round_robin")
    assert (np.diff(fused.scores) < 0).all()


def test_mistakes() -> None:
    a = Predictions.from_csr(matrix([{1: 1.0}]), 2)
    two = Predictions.from_csr(matrix([{1: 1.0}, {}]), 2)
    with pytest.raises(ConfigError, match=r"no fuser 'mean'.*rank_average"):
        fuse([a], "mean")
    for lists in ([], [a, two]):
        with pytest.raises(DataError, match="same texts"):
            fuse(lists)
    for weights in ([1], [1, -1], [0, 0], [1, float("nan")], [1, float("inf")]):
        with pytest.raises(ConfigError, match="weights are"):
            fuse([a, a], weights=weights)
    with pytest.raises(ConfigError, match="round_robin"):
        fuse([a, a], "round_robin", weights=[1, 2])


# --------------------------------------------------------------------------- as a value


def some(kind: Kind = "score") -> Predictions:
    labels = np.array([[2, 0], [1, -1], [-1, -1]], np.int32)
    return Predictions(labels, np.array([[0.75, 0.5], [0.25, 0], [0, 0]], np.float32), ("a", "b", "<c>"), kind)


def test_equality_is_that_of_values() -> None:
    assert some() == some()
    assert some() == Predictions(some().labels, some().scores, ["a", "b", "<c>"])
    for other in (some("margin"), some()[:2], some().top(1), Predictions(some().labels, some().scores), "other"):
        assert some() != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(some())


def test_slices_are_predictions() -> None:
    assert some()[1:] == some().rows(np.array([1, 2]))
    assert list(some()[0:2]) == [some()[0], some()[1]]
    assert some()[-1] == []
    assert len(some()[5:]) == 0


def test_a_threshold_cuts_lists_short() -> None:
    passed = some().at_least(0.5)
    assert passed.labels.tolist() == [[2, 0], [-1, -1], [-1, -1]]
    assert passed.scores.tolist() == [[0.75, 0.5], [0, 0], [0, 0]]
    assert some().at_least(-1.0) == some()  # the zeros beside empty places pass no threshold
    with pytest.raises(ConfigError, match="NaN"):
        some().at_least(float("nan"))


def test_records_and_frames_have_a_row_per_suggestion() -> None:
    records = some().records()
    assert records == [
        {"text": 0, "rank": 1, "label": "<c>", "score": 0.75},
        {"text": 0, "rank": 2, "label": "a", "score": 0.5},
        {"text": 1, "rank": 1, "label": "b", "score": 0.25},
    ]
    assert some().to_frame().to_dicts() == records
    empty = some()[3:].to_frame()
    assert (empty.columns, len(empty)) == (["text", "rank", "label", "score"], 0)


def test_what_people_see_is_short() -> None:
    many = Predictions(np.zeros((5000, 1), np.int32), np.ones((5000, 1), np.float32), ["name"] * 100_000)
    assert repr(many) == "Predictions(5,000 texts, k=1, kind='score', first: name 1, …)"
    assert repr(many[:0]) == "Predictions(0 texts, k=1, kind='score')"
    assert len(many._repr_html_()) < 2000
    page = some()._repr_html_()
    assert "&lt;c&gt; <small>0.75</small>" in page
    assert page.count("<tr>") == 4


@pytest.mark.parametrize(
    ("how", "kinds", "fused"),
    [
        ("average", ("margin", "margin"), "margin"),
        ("average", ("score", "score"), "score"),
        ("average", ("probability", "probability"), "score"),
        ("average", ("rank", "rank"), "rank"),
        ("average", ("margin", "score"), "margin"),
        ("average", ("probability",), "probability"),
        ("rank_average", ("margin", "score"), "rank"),
        ("round_robin", ("score", "score"), "rank"),
        ("sigmoid_average", ("margin", "margin"), "score"),
        ("softmax_average", ("margin",), "score"),
    ],
)
def test_the_kind_of_fused_scores(how: str, kinds: tuple[Kind, ...], fused: Kind) -> None:
    assert fuse([some(kind) for kind in kinds], how).kind == fused


def test_a_threshold_for_each_label() -> None:
    found = Predictions(np.array([[0, 1], [1, -1]], np.int32), np.array([[0.5, 0.4], [0.3, 0]], np.float32))
    assert found.at_least(np.array([0.6, 0.4], np.float32)).labels.tolist() == [[-1, 1], [-1, -1]]
    with pytest.raises(ConfigError, match="NaN"):
        found.at_least(np.array([0.6, np.nan], np.float32))


def test_without_some_pairs_later_labels_move_up() -> None:
    found = Predictions(np.array([[2, 0, 1], [5, 2, -1]], np.int32), np.array([[3, 2, 1], [2, 1, 0]], np.float32))
    pairs = canonical(csr_array(np.array([[0, 0, 1], [0, 0, 0]], np.float32)))
    left = found.without(pairs)
    assert left.labels.tolist() == [[0, 1, -1], [5, 2, -1]]
    assert left.scores.tolist() == [[2, 1, 0], [2, 1, 0]]


def test_a_label_that_a_list_of_margins_lacks_is_no_better_than_its_last() -> None:
    """Counted as zero it would beat every margin below: worse models then outvote better ones by knowing less."""
    one = Predictions(np.array([[0, 1]], np.int32), np.array([[-1.0, -2.0]], np.float32), kind="margin")
    other = Predictions(np.array([[2, 1]], np.int32), np.array([[-1.5, -1.8]], np.float32), kind="margin")
    fused = fuse([one, other], "average")
    expected = {0: (-1.0 - 1.8) / 2, 1: (-2.0 - 1.8) / 2, 2: (-2.0 - 1.5) / 2}
    full = fuse([one, other], "average", k=3)
    assert dict(zip(full.labels[0].tolist(), full.scores[0].tolist(), strict=True)) == pytest.approx(expected)
    assert fused.labels[0].tolist() == [0, 2]
    scores = [Predictions(p.labels, np.exp(p.scores)) for p in (one, other)]  # scores from 0 to 1 have a floor: zero
    assert fuse(scores, "average").scores[0, 0] == pytest.approx(np.exp(-1.0) / 2)


def test_an_empty_list_of_margins_says_nothing() -> None:
    none = Predictions(np.array([[-1, -1]], np.int32), np.zeros((1, 2), np.float32), kind="margin")
    one = Predictions(np.array([[0, 1]], np.int32), np.array([[2.0, -2.0]], np.float32), kind="margin")
    assert fuse([one, none], "average").scores.tolist() == [[1.0, -1.0]]

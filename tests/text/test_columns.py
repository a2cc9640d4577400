from __future__ import annotations

import numpy as np
import pytest

from treetop.errors import DataError
from treetop.text.analysis import encoder
from treetop.text.columns import Hashed, Kind, Limits, Vocabulary

TEXTS = ["to be or not to be", "be quick", "to go"]
ALL = Limits(fewest_texts=1, most_texts=3, most_terms=None)


def kind() -> Kind:
    encode, fold = encoder(lowercase=True, accents=None)
    return Kind(name="word", ngrams=(1, 1), encode=encode, fold=fold, token_length=2)


def learned(limits: Limits) -> Vocabulary:
    vocabulary = Vocabulary(kind())
    vocabulary.learn(TEXTS[:1], 1)
    vocabulary.learn(TEXTS[1:], 1)
    vocabulary.settle(limits)
    return vocabulary


def test_terms_are_sorted_and_chunks_add_up() -> None:
    vocabulary = learned(ALL)
    assert vocabulary.terms == ["be", "go", "not", "or", "quick", "to"]
    assert vocabulary.in_texts.tolist() == [2, 1, 1, 1, 1, 2]


@pytest.mark.parametrize(
    ("limits", "terms"),
    [
        (Limits(fewest_texts=2, most_texts=3, most_terms=None), ["be", "to"]),
        (Limits(fewest_texts=1, most_texts=1.5, most_terms=None), ["go", "not", "or", "quick"]),
        (Limits(fewest_texts=1, most_texts=3, most_terms=1), ["be"]),  # as often as "to", and earlier
        (Limits(fewest_texts=1, most_texts=3, most_terms=4), ["be", "go", "not", "to"]),
        (Limits(fewest_texts=9, most_texts=3, most_terms=None), []),
    ],
)
def test_limits_choose_terms(limits: Limits, terms: list[str]) -> None:
    assert learned(limits).terms == terms


def test_counts_of_learning_move_to_their_columns() -> None:
    vocabulary = Vocabulary(kind())
    counts = vocabulary.learn(TEXTS, 1)
    moved = vocabulary.settle(Limits(fewest_texts=2, most_texts=3, most_terms=None))
    start, columns, values = vocabulary.settled(counts, moved, 1)
    assert (start.tolist(), columns.tolist(), values.tolist()) == ([0, 2, 3, 4], [0, 1, 0, 1], [2, 2, 1, 1])
    for a, b in zip(vocabulary.count(TEXTS, 1), (start, columns, values), strict=True):
        np.testing.assert_array_equal(a, b)


def test_tensors_restore_the_vocabulary() -> None:
    original, copy = learned(ALL), Vocabulary(kind())
    copy.restore(original.tensors())
    assert copy.terms == original.terms
    for a, b in zip(copy.count(TEXTS, 1), original.count(TEXTS, 1), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("offsets", [[], [0, 5], [1, 4], [0, 4, 2, 4], [0, 9]])
def test_offsets_that_point_elsewhere_are_refused(offsets: list[int]) -> None:
    with pytest.raises(DataError, match="offsets"):
        Vocabulary(kind()).restore({"terms": np.frombuffer(b"beto", np.uint8), "offsets": np.array(offsets, np.int64)})


def test_hashed_columns_need_no_learning() -> None:
    hashed = Hashed(kind(), bits=4)
    assert hashed.width == 16
    _, columns, counts = hashed.count(TEXTS, 1)
    assert columns.max() < 16
    assert counts.sum() == 10
    hashed.learn(TEXTS, 1)
    hashed.learn(TEXTS, 1)
    assert hashed.in_texts.sum() == 2 * len(columns)
    with pytest.raises(DataError, match="hash_bits=None"):
        _ = hashed.terms

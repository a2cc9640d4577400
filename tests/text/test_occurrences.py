"""Each entry of a tf-idf row is shared among the words it came from, for every kind of n-gram."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from treetop.text import Tfidf, TfidfConfig
from treetop.text.occurrences import Spans, overlap, shared_out, spans_of
from treetop.types import Ids

TEXTS = [
    "The quick Brown fox jumps over the lazy dog, a b c don't e-mail",
    "Öl und Käse sind gut, Straße ÉCOLE naïve İstanbul ΣΊΣΥΦΟΣ and the fox ﬁsh",
    "brown brown fox the dog a",
]
KINDS: list[dict[str, Any]] = [
    {},
    {"word_ngrams": (1, 2)},
    {"word_ngrams": (2, 4), "sublinear_tf": True},
    {"word_ngrams": (1, 2), "stop_words": "english"},
    {"word_ngrams": None, "char_wb_ngrams": (2, 4)},
    {"word_ngrams": None, "char_ngrams": (1, 5)},
    {"word_ngrams": (1, 2), "char_wb_ngrams": (3, 3), "char_ngrams": (2, 3)},
    {"word_ngrams": (1, 2), "hash_bits": 6},
    {"strip_accents": "unicode"},
    {"lowercase": False, "token_pattern": r"[A-Za-z]{3,}"},
    {"token_pattern": r"(\w\w)\w*"},
]


def shares_of(tfidf: Tfidf, text: str, columns: Ids, spans: Spans) -> NDArray[np.float64]:
    """The share of each word in each column."""
    return shared_out(tfidf, text, columns, np.eye(len(columns)), spans)


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_the_shares_of_every_column_add_up_to_one(options: dict[str, Any]) -> None:
    tfidf = Tfidf(TfidfConfig(**options))
    rows = tfidf.fit_transform(TEXTS)
    for number, text in enumerate(TEXTS):
        columns = rows[[number]].indices
        shares = shares_of(tfidf, text, columns, spans_of(text, tfidf.config))
        assert len(columns)
        np.testing.assert_allclose(shares.sum(0), 1, atol=1e-12)
        assert shares.min() > -1e-12


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_values_are_shared_as_their_columns_are(options: dict[str, Any]) -> None:
    tfidf, rng = Tfidf(TfidfConfig(**options)), np.random.default_rng(0)
    rows = tfidf.fit_transform(TEXTS)
    for number, text in enumerate(TEXTS):
        columns, spans = rows[[number]].indices, spans_of(text, tfidf.config)
        values = rng.normal(size=(len(columns), 3))
        expected = shares_of(tfidf, text, columns, spans) @ values
        np.testing.assert_allclose(shared_out(tfidf, text, columns, values, spans), expected, atol=1e-12)
        np.testing.assert_allclose(shared_out(tfidf, text, columns, values[:, 0], spans), expected[:, 0], atol=1e-12)


def test_a_word_of_which_no_term_is_known_has_nothing_at_all() -> None:
    tfidf = Tfidf(TfidfConfig(word_ngrams=(1, 4)))
    columns = np.unique(tfidf.fit_transform(["all these words here", "these words here all"]).indices)
    values = np.random.default_rng(1).normal(size=len(columns))
    text = "these QXJ words here QXJ all"
    given = shared_out(tfidf, text, columns, values, spans_of(text, tfidf.config))
    assert given[[0, 2, 3, 5]].all()
    assert not given[[1, 4]].any()


def test_a_pair_belongs_to_both_words_and_a_word_to_all_its_places() -> None:
    tfidf = Tfidf(TfidfConfig(word_ngrams=(1, 2), stop_words=("the",)))
    text = "Fish, the soup: fish!"
    columns = tfidf.fit_transform([text]).indices
    spans = spans_of(text, tfidf.config)
    assert [text[start:end] for start, end in spans] == ["Fish", ",", "the", "soup", ":", "fish", "!"]
    shares = shares_of(tfidf, text, columns, spans)
    assert tfidf.terms == ["fish", "fish soup", "soup", "soup fish"]
    assert shares[:, 0].tolist() == [0.5, 0, 0, 0, 0, 0.5, 0]
    assert shares[:, 1].tolist() == [0.5, 0, 0, 0.5, 0, 0, 0]
    assert shares[:, 2].tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert shares[:, 3].tolist() == [0, 0, 0, 0.5, 0, 0.5, 0]


def test_places_are_those_of_the_text_as_it_is() -> None:
    config = TfidfConfig(strip_accents="unicode")
    text = "ﬁsh ½ İstanbul"  # these letters become several when accents go
    assert [text[start:end] for start, end in spans_of(text, config)] == ["ﬁsh", "½", "İstanbul"]
    assert spans_of("").shape == (0, 2)


def test_pieces_are_shared_by_the_words_they_touch() -> None:
    spans = np.array([[0, 4], [5, 6], [6, 9], [10, 12]])
    pieces = np.array([[0, 4], [5, 9], [3, 11], [4, 5]])
    expected = [[1, 0, 0.25, 0], [0, 0.5, 0.25, 0], [0, 0.5, 0.25, 0], [0, 0, 0.25, 0]]
    np.testing.assert_array_equal(overlap(spans, pieces).toarray(), expected)

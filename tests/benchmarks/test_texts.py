"""Made-up words and the texts of them."""

from __future__ import annotations

import scipy.sparse as sp
from benchmarks.texts import made_up_words, texts_of


def test_words_differ() -> None:
    words = made_up_words(30_000)
    assert len(set(words)) == 30_000
    assert all(word.isalpha() and len(word) >= 4 for word in words)


def test_a_text_has_the_words_of_its_features() -> None:
    features = sp.csr_matrix([[0, 2, 1, 0], [0, 0, 0, 0], [3, 0, 0, 1]])
    words = made_up_words(4)
    texts = texts_of(features)
    assert [set(text.split()) for text in texts] == [{words[1], words[2]}, set(), {words[0], words[3]}]
    assert texts == texts_of(features)

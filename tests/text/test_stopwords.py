from __future__ import annotations

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from treetop.text.stopwords import ENGLISH


def test_it_is_the_list_that_scikit_learn_users_know() -> None:
    assert ENGLISH == ENGLISH_STOP_WORDS

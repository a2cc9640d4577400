"""Labels by words of their names and texts."""

from __future__ import annotations

from treetop.apps.serve.labelsearch import LabelSearch
from treetop.data import LabelSpace

SPACE = LabelSpace(["a1", "a2", "b1", "b2"], ["Sea law", "Law of the sea", "Law", "Tax"])
SEARCH = LabelSearch(SPACE, [5, 9, 1, 7])


def test_what_is_asked_for_comes_first() -> None:
    assert SEARCH.find("law", 10) == [2, 1, 0]  # the text itself, one that begins so, one that has the word
    assert SEARCH.find("LAW sea", 10) == [1, 0]
    assert SEARCH.find("b", 10) == [3, 2]
    assert SEARCH.find("nothing", 10) == []


def test_without_words_the_most_frequent() -> None:
    assert SEARCH.find("  ", 2) == [1, 3]


def test_words_are_words_and_no_patterns() -> None:
    assert LabelSearch(LabelSpace(["c++", "c"]), [1, 1]).find("c+", 5) == [0]
    assert SEARCH.find(".*", 5) == []

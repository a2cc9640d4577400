"""The fewest words to remove are looked for by asking again."""

from __future__ import annotations

from treetop.explanation import Word
from treetop.methods.explaining.removing import fewest_words, without
from treetop.methods.explaining.standing import Standing

TEXT = "a b c d e f g a"
WORDS = [Word(letter, at, at + 1, float(10 - number)) for number, (at, letter) in enumerate(
    (at, letter) for at, letter in enumerate(TEXT) if letter != " ")]  # fmt: skip


def standing(score: float) -> Standing:
    return Standing(0, score, "score", 1)


def score(text: str) -> float:
    return len(text.split()) / 8


def test_words_go_with_all_their_places() -> None:
    assert without(TEXT, [WORDS[0], WORDS[7], WORDS[2]]).split() == ["b", "d", "e", "f", "g"]


def test_no_fewer_words_would_do() -> None:
    for limit, gone in ((0.99, ["a"]), (0.75, ["a", "b"]), (0.5, ["a", "b", "c", "d"]), (0.2, list("abcdef"))):
        found = fewest_words(score, TEXT, WORDS, standing(1.0), limit)
        assert list(found.words) == [*gone][: len(found.words)]
        assert found.enough
        assert found.after < limit
        fewer = [word for word in WORDS if word.word in found.words[:-1]]
        assert score(without(TEXT, fewer)) >= limit


def test_words_against_a_label_stay() -> None:
    against = [Word("a", 0, 1, -1.0), Word("b", 2, 3, 0.5)]
    found = fewest_words(score, TEXT, against, standing(1.0), 0.1)
    assert found.words == ("b",)
    assert not found.enough
    assert found.after == 7 / 8


def test_it_asks_seldom() -> None:
    asked: list[str] = []
    text = " ".join(f"w{number}" for number in range(1000))
    words, at = [], 0
    for part in text.split():
        words.append(Word(part, at, at + len(part), 1.0))
        at += len(part) + 1

    def counted(shorter: str) -> float:
        asked.append(shorter)
        return len(shorter.split()) / 1000

    found = fewest_words(counted, text, words, standing(1.0), 0.3)
    assert len(found.words) == 701
    assert len(asked) <= 20
    assert not fewest_words(score, "", [], standing(1.0), 0.3).words

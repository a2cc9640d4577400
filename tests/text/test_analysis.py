"""Characters and words are what Python's `re` says they are."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

from treetop.errors import ConfigError
from treetop.text.analysis import alphabet, check_pattern, encoder, strip_accents, word_encoder


@pytest.mark.parametrize("lowercase", [True, False])
def test_the_alphabet_is_pythons_for_every_code_point(lowercase: bool) -> None:
    table = np.arange(0x110000, dtype=np.uint32) << 2
    known = alphabet(lowercase=lowercase, ascii_only=False)
    table[: len(known)] = known
    every = [chr(point) for point in range(0x110000)]
    folded = "".join(every)
    if lowercase:
        assert [c for c in every if len(c.lower()) != 1] == ["İ"]  # a text with it is folded by Python
        folded = "".join("i" if c in "İΣ" else c.lower() for c in every)
    assert "".join(map(chr, (table >> 2).tolist())) == folded
    for bit, pattern in ((1, r"\w"), (2, r"\s")):
        expected = np.zeros(0x110000, bool)
        for match in re.finditer(f"{pattern}+", folded):
            expected[match.start() : match.end()] = True
        np.testing.assert_array_equal((table & bit) > 0, expected)


def test_folding_twice_is_folding_once() -> None:
    every = "".join(map(chr, range(0x110000)))
    assert every.lower().lower() == every.lower()


def test_ascii_is_the_beginning_of_the_alphabet() -> None:
    for lowercase in (True, False):
        whole = alphabet(lowercase=lowercase, ascii_only=False)
        np.testing.assert_array_equal(alphabet(lowercase=lowercase, ascii_only=True), whole[:128])


@pytest.mark.parametrize("text", ["plain", "Crème brûlée", "ﬁ ² Ⅷ", "e\u0301", "İstanbul", "日本", "ά", "\u0301"])
def test_accents_go_as_in_scikit_learn(text: str) -> None:
    assert strip_accents(text, ascii_only=False) == strip_accents_unicode(text)
    assert strip_accents(text, ascii_only=True) == strip_accents_ascii(text)


def test_capitals_are_left_to_the_kernel_if_their_small_letters_are_plain() -> None:
    encode, fold = encoder(lowercase=True, accents=None)
    assert fold
    assert encode("ABC") == "ABC"
    assert encode("ÉA") == "ÉA".encode()
    assert encode("AΣ İ") == "AΣ İ".lower().encode()


def test_accents_are_stripped_after_folding() -> None:
    encode, fold = encoder(lowercase=True, accents="unicode")
    assert not fold
    assert encode("ABC É") == "abc e"
    assert encode("℡ A") == "TEL a"  # as in scikit-learn: folded first, taken apart then


def test_texts_may_hold_half_a_character() -> None:
    encode, fold = encoder(lowercase=False, accents=None)
    assert not fold
    assert encode("É\ud800") == "É\ud800".encode("utf-8", "surrogatepass")


def test_own_patterns_find_the_words() -> None:
    encode = word_encoder(r"#(\w+)", lowercase=True, accents=None)
    assert encode("#One two #É") == "one\xff".encode("latin-1") + "é".encode() + b"\xff"


@pytest.mark.parametrize(("pattern", "message"), [("[", "not a regular expression"), ("(a)(b)", "2 groups")])
def test_a_bad_pattern_is_named(pattern: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_pattern(pattern)

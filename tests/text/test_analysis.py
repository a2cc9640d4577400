"""Characters and words are what Python's `re` says they are."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

from treetop.errors import ConfigError
from treetop.text.analysis import character_classes, check_pattern, encoder, encoder_of_words, strip_accents


def test_classes_are_those_of_python_for_every_code_point() -> None:
    classes = character_classes(ascii_only=False)
    every = "".join(map(chr, range(0x110000)))
    for bit, pattern in ((1, r"\w"), (2, r"\s")):
        expected = np.zeros(0x110000, bool)
        for match in re.finditer(f"{pattern}+", every):
            expected[match.start() : match.end()] = True
        np.testing.assert_array_equal((classes & bit) > 0, expected)


def test_ascii_classes_are_the_beginning_of_all() -> None:
    np.testing.assert_array_equal(character_classes(ascii_only=True), character_classes(ascii_only=False)[:128])


@pytest.mark.parametrize("text", ["plain", "Crème brûlée", "ﬁ ² Ⅷ", "e\u0301", "İstanbul", "日本", "ά", "\u0301"])
def test_accents_go_as_in_scikit_learn(text: str) -> None:
    assert strip_accents(text, ascii_only=False) == strip_accents_unicode(text)
    assert strip_accents(text, ascii_only=True) == strip_accents_ascii(text)


def test_ascii_is_left_to_the_kernel_and_the_rest_is_folded() -> None:
    encode = encoder(lowercase=True, accents=None)
    assert encode("ABC") == "ABC"
    assert encode("ÉA") == "éa".encode()
    assert encoder(lowercase=True, accents="ascii")("ÉA") == b"ea"
    assert encoder(lowercase=False, accents=None)("É\ud800") == "É\ud800".encode("utf-8", "surrogatepass")


def test_own_patterns_find_the_words() -> None:
    encode = encoder_of_words(r"#(\w+)", lowercase=True, accents=None)
    assert encode("#One two #É") == "one\xff".encode("latin-1") + "é".encode() + b"\xff"


@pytest.mark.parametrize(("pattern", "message"), [("[", "not a regular expression"), ("(a)(b)", "2 groups")])
def test_a_bad_pattern_is_named(pattern: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_pattern(pattern)

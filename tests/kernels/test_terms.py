"""The native term index equals its definition in plain Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from treetop import kernels
from treetop.kernels.reference import terms as reference
from treetop.kernels.reference.terms import murmur3
from treetop.text.analysis import alphabet

LETTERS = alphabet(lowercase=True, ascii_only=False)
KINDS = [
    ("word", 1, 1),
    ("word", 1, 3),
    ("word", 2, 2),
    ("char", 1, 4),
    ("char", 3, 5),
    ("char_wb", 1, 3),
    ("char_wb", 4, 6),
]
ALPHABET = "abAB1_ .\t\n\u00a0\u2003éÉ\u0301ßİıष्אبあ😀\U0001f1e9\ud800\x00"


def encoded(texts: list[str]) -> list[str | bytes]:
    return [text if text.isascii() else text.encode("utf-8", "surrogatepass") for text in texts]


def both(kind: str, shortest: int, longest: int, *, token_length: int = 2, stop: list[bytes] = []) -> tuple[Any, Any]:  # noqa: B006
    options: dict[str, Any] = {"kind": kind, "shortest": shortest, "longest": longest, "token_length": token_length}
    return kernels.TermIndex(**options, stop=stop), reference.TermIndex(**options, stop=stop)


def same(a: Iterable[NDArray[Any]], b: Iterable[NDArray[Any]]) -> None:
    for x, y in zip(a, b, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(("kind", "shortest", "longest"), KINDS)
@given(
    texts=st.lists(st.text(ALPHABET, max_size=40), max_size=8),
    others=st.lists(st.text(ALPHABET, max_size=40), max_size=4),
)
@settings(max_examples=25)
def test_equals_the_definition(kind: str, shortest: int, longest: int, texts: list[str], others: list[str]) -> None:
    native, plain = both(kind, shortest, longest, stop=[b"ab", "éé".encode()])
    learned: tuple[Any, Any, Any] = native.learn(encoded(texts), LETTERS, 2)
    same(learned, plain.learn(encoded(texts), LETTERS, 2))
    assert len(native) == len(plain)
    np.testing.assert_array_equal(native.in_texts, plain.in_texts)
    np.testing.assert_array_equal(native.occurrences, plain.occurrences)
    ids = np.arange(0, len(native), 2, dtype=np.int32)
    order = native.sorted(ids)
    np.testing.assert_array_equal(order, plain.sorted(ids))
    same(native.terms(order), plain.terms(order))
    for asked in (encoded(others), *([text] for text in encoded(others))):  # a short text alone takes another way
        same(native.look_up(asked, LETTERS, 2), plain.look_up(asked, LETTERS, 2))
    same(native.hash(encoded(others), LETTERS, 3, 2), plain.hash(encoded(others), LETTERS, 3, 2))
    columns = np.full(len(native), -1, np.int32)
    columns[order] = np.arange(len(order)) // 2  # pairs share a column
    same(kernels.arrange_counts(*learned, columns, 2), reference.arrange_counts(*learned, columns, 2))


@given(words=st.lists(st.lists(st.text(ALPHABET, max_size=6), max_size=6), max_size=5))
@settings(max_examples=25)
def test_takes_words_that_were_found_elsewhere(words: list[list[str]]) -> None:
    texts = [b"".join(word.encode("utf-8", "surrogatepass") + b"\xff" for word in row) for row in words]
    native, plain = both("word", 1, 2, token_length=0, stop=[b"a"])
    same(native.learn(texts, LETTERS, 1), plain.learn(texts, LETTERS, 1))
    assert len(native) == len(plain)


def test_a_given_word_must_end() -> None:
    native, _ = both("word", 1, 1, token_length=0)
    with pytest.raises(ValueError, match="lacks its end"):
        native.learn([b"word"], LETTERS, 1)


def test_threads_do_not_change_the_numbers() -> None:
    draws = np.random.default_rng(3).integers(0, 5000, (2000, 400)).tolist()
    texts = [" ".join(f"word{i}" for i in row) for row in draws]  # several blocks of half a megabyte
    results = []
    for threads in (1, 2, 5):
        native, _ = both("word", 1, 2)
        results.append((*native.learn(texts, LETTERS, threads), *native.look_up(texts, LETTERS, threads)))
    same(results[0], results[1])
    same(results[0], results[2])


def test_a_stored_table_is_the_learned_one() -> None:
    native, _ = both("word", 1, 1)
    native.learn(["one two three two"], LETTERS, 1)
    copy, _ = both("word", 1, 1)
    copy.insert(*native.terms(np.arange(3, dtype=np.int32)))
    same(copy.look_up(["two three four"], LETTERS, 1), native.look_up(["two three four"], LETTERS, 1))


def test_refuses_an_unknown_kind() -> None:
    with pytest.raises(ValueError, match="word, char, char_wb"):
        both("syllable", 1, 1)


def test_murmur3_has_the_published_values() -> None:
    assert murmur3(b"") == 0
    assert murmur3(b"hello") == 0x248BFA47
    assert murmur3(b"hello, world") == 0x149BBB7F
    assert murmur3(b"The quick brown fox jumps over the lazy dog") == 0x2E4FF723

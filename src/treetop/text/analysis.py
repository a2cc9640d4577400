"""What the term kernel needs to know about text: encoded texts, and which characters make words.

The kernel walks over UTF-8. Everything that depends on Unicode's tables (small letters, accents, which characters
are letters or white space) is asked of Python itself, so that words end exactly where Python's `re` ends them, in
every version of Python.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop.errors import ConfigError

__all__ = [
    "WORD_PATTERNS",
    "Encode",
    "character_classes",
    "check_pattern",
    "encoder",
    "encoder_of_words",
    "strip_accents",
]

Encode: TypeAlias = Callable[[str], str | bytes]
"""A text as the kernel takes it: ASCII as it is, anything else in UTF-8 with its letters folded."""

WORD_PATTERNS = {r"(?u)\b\w\w+\b": 2, r"\b\w\w+\b": 2, r"(?u)\b\w+\b": 1, r"\b\w+\b": 1}
"""Token patterns that the kernel knows by itself, with the least length of a word."""

_IN_WORD, _IS_SPACE = 1, 2
_WORD_END = b"\xff"  # occurs nowhere in UTF-8


@cache
def character_classes(*, ascii_only: bool) -> NDArray[np.uint8]:
    r"""Of every code point: bit 0 if it matches `\w`, bit 1 if it is white space, as Python's `re` sees it.

    The table of all of Unicode takes tens of milliseconds to make, which texts in plain ASCII need not wait for.
    """
    characters = np.arange(128 if ascii_only else 0x110000, dtype=np.uint32).view("U1")
    classes = np.where(np.char.isalnum(characters), _IN_WORD, 0) | np.where(np.char.isspace(characters), _IS_SPACE, 0)
    classes[ord("_")] |= _IN_WORD
    return classes.astype(np.uint8)


def check_pattern(pattern: str) -> None:
    """Refuse a token pattern that is not a regular expression, or of which it is unclear what the word is."""
    try:
        groups = re.compile(pattern).groups
    except (re.error, TypeError) as error:
        raise ConfigError(f"token_pattern is {pattern!r}, which is not a regular expression: {error}") from None
    if groups > 1:
        raise ConfigError(f"token_pattern {pattern!r} has {groups} groups; at most one may stand for the word")


def strip_accents(text: str, *, ascii_only: bool) -> str:
    """The text in Unicode's compatibility decomposition (NFKD) without combining marks, or without all but ASCII."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text)
    if ascii_only:
        return text.encode("ascii", "ignore").decode("ascii")
    return "".join([character for character in text if not unicodedata.combining(character)])


def encoder(*, lowercase: bool, accents: str | None) -> Encode:
    """A function that makes a text ready for the kernel, which itself folds ASCII capitals."""
    return partial(_encode, lowercase=lowercase, accents=accents)


def encoder_of_words(pattern: str, *, lowercase: bool, accents: str | None) -> Encode:
    """A function that cuts a text into words by a regular expression of the user's; each ends with the byte 0xFF."""
    find = re.compile(pattern).findall

    def encode(text: str) -> bytes:
        words: Sequence[str] = find(_fold(text, lowercase=lowercase, accents=accents))
        return b"".join(_with_ends(words))

    return encode


def _with_ends(words: Sequence[str]) -> Iterator[bytes]:
    for word in words:
        yield word.encode("utf-8", "surrogatepass")
        yield _WORD_END


def _encode(text: str, *, lowercase: bool, accents: str | None) -> str | bytes:
    if text.isascii():
        return text
    return _fold(text, lowercase=lowercase, accents=accents).encode("utf-8", "surrogatepass")


def _fold(text: str, *, lowercase: bool, accents: str | None) -> str:
    text = text.lower() if lowercase else text
    return text if accents is None else strip_accents(text, ascii_only=accents == "ascii")

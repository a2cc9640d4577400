"""What the term kernel needs to know about text: encoded texts, and which characters make words.

The kernel walks over UTF-8. Everything that depends on Unicode's tables (small letters, accents, which characters
are letters or white space) is asked of Python itself, so that words end exactly where Python's `re` ends them, in
every version of Python.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop.errors import ConfigError

__all__ = ["WORD_PATTERNS", "Encode", "alphabet", "check_pattern", "encoder", "strip_accents", "word_encoder"]

Encode: TypeAlias = Callable[[str], str | bytes]
"""A text as the kernel takes it: ASCII as it is, anything else in UTF-8."""

WORD_PATTERNS = {r"(?u)\b\w\w+\b": 2, r"\b\w\w+\b": 2, r"(?u)\b\w+\b": 1, r"\b\w+\b": 1}
"""Token patterns that the kernel knows by itself, with the least length of a word."""

_IN_WORD, _IS_SPACE = 1, 2
_WORD_END = b"\xff"  # occurs nowhere in UTF-8
_ASCII, _PLANES = 0x80, 0x40000  # no letter or white space is beyond: unassigned, tags, private use
# Capitals whose small letter is two characters, or depends on its neighbours: for these Python folds the text.
_DOTTED_I, _SIGMA = "\u0130", "\u03a3"


@cache
def alphabet(*, lowercase: bool, ascii_only: bool) -> NDArray[np.uint32]:
    r"""Of code points: bit 0 if it matches `\w`, bit 1 if it is white space, above them the letter it becomes.

    The table beyond ASCII takes some ten milliseconds to make, which texts in plain ASCII need not wait for.
    """
    folded = np.arange(_ASCII if ascii_only else _PLANES, dtype=np.uint32)
    if lowercase:
        every = folded.tobytes().decode("utf-32", "surrogatepass")
        every = every.replace(_DOTTED_I, "i").replace(_SIGMA, "i").lower()
        folded = np.frombuffer(every.encode("utf-32", "surrogatepass"), np.uint32)[1:]  # after the byte order mark
    characters = folded.view("U1")
    words, spaces = np.char.isalnum(characters), np.char.isspace(characters)
    words[ord("_")] = True
    return (folded << 2 | words * _IN_WORD | spaces * _IS_SPACE).astype(np.uint32)


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


def encoder(*, lowercase: bool, accents: str | None) -> tuple[Encode, bool]:
    """A function that makes a text ready for the kernel, and whether capitals are left to the kernel."""
    if accents is not None:  # without its accents a character may become capitals, which stay
        return lambda text: _encoded(_folded(text, lowercase=lowercase, accents=accents)), False
    return (_encoded_for_folding if lowercase else _encoded), lowercase


def word_encoder(pattern: str, *, lowercase: bool, accents: str | None) -> Encode:
    """A function that cuts a text into words by a regular expression of the user's; each ends with the byte 0xFF."""
    find = re.compile(pattern).findall

    def encode(text: str) -> bytes:
        words: list[str] = find(_folded(text, lowercase=lowercase, accents=accents))
        return b"".join([word.encode("utf-8", "surrogatepass") + _WORD_END for word in words])

    return encode


def _encoded(text: str) -> str | bytes:
    return text if text.isascii() else text.encode("utf-8", "surrogatepass")


def _encoded_for_folding(text: str) -> str | bytes:
    if text.isascii():
        return text
    return _encoded(text.lower() if _DOTTED_I in text or _SIGMA in text else text)


def _folded(text: str, *, lowercase: bool, accents: str | None) -> str:
    text = text.lower() if lowercase else text
    return text if accents is None else strip_accents(text, ascii_only=accents == "ascii")

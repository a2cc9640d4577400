"""The definition of a text's digest, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["text_digests", "xxh64"]

_ALL = 2**64 - 1
_PRIME = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
_SMALL = bytes(range(256)).lower()
_WHITE = b" \t\n\v\f\r"


def text_digests(texts: Sequence[str]) -> NDArray[np.uint64]:
    """The hash of what is left of each text without white space and capitals."""
    contents = (text.encode("utf-8", "surrogatepass").translate(_SMALL, _WHITE) for text in texts)
    return np.array([xxh64(content) for content in contents], np.uint64)


def xxh64(content: bytes) -> int:
    """XXH64 with seed 0."""
    h, at = _PRIME[4], 0
    if len(content) >= 32:
        lanes = [(_PRIME[0] + _PRIME[1]) & _ALL, _PRIME[1], 0, -_PRIME[0] & _ALL]
        for at in range(0, len(content) - 31, 32):
            lanes = [_round(lane, _number(content[at + 8 * i : at + 8 * i + 8])) for i, lane in enumerate(lanes)]
        at += 32
        h = sum(_rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _ALL
        for lane in lanes:
            h = ((h ^ _round(0, lane)) * _PRIME[0] + _PRIME[3]) & _ALL
    h = (h + len(content)) & _ALL
    while len(content) - at >= 8:
        h = (_rotate(h ^ _round(0, _number(content[at : at + 8])), 27) * _PRIME[0] + _PRIME[3]) & _ALL
        at += 8
    if len(content) - at >= 4:
        h = (_rotate(h ^ _number(content[at : at + 4]) * _PRIME[0] & _ALL, 23) * _PRIME[1] + _PRIME[2]) & _ALL
        at += 4
    for byte in content[at:]:
        h = _rotate(h ^ byte * _PRIME[4] & _ALL, 11) * _PRIME[0] & _ALL
    h = (h ^ h >> 33) * _PRIME[1] & _ALL
    h = (h ^ h >> 29) * _PRIME[2] & _ALL
    return h ^ h >> 32


def _number(content: bytes) -> int:
    return int.from_bytes(content, "little")


def _rotate(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) & _ALL


def _round(lane: int, word: int) -> int:
    return _rotate((lane + word * _PRIME[1]) & _ALL, 31) * _PRIME[0] & _ALL

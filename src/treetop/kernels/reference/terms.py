"""The definition of the term kernel: which terms a text has, and how they are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["TermIndex", "arrange_counts", "murmur3"]

Counts = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]

_IN_WORD, _IS_SPACE = 1, 2


class TermIndex:
    """Counts n-grams of words (`word`), of characters (`char`) or of the characters of each word (`char_wb`).

    `alphabet[code point]` has bit 0 for characters of words, bit 1 for white space, and above them the code point that
    the character becomes; characters beyond it are neither and stay. Texts are ASCII strings, or bytes in UTF-8. With
    `token_length` 0 the words are given: each ends with the byte 0xFF.
    """

    def __init__(self, *, kind: str, shortest: int, longest: int, token_length: int, stop: Sequence[bytes]) -> None:
        self._kind, self._sizes, self._token_length = kind, range(shortest, longest + 1), token_length
        self._stop = {_decoded(word) for word in stop}
        self._numbers: dict[str, int] = {}
        self._in_texts: list[int] = []
        self._occurrences: list[int] = []

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def in_texts(self) -> NDArray[np.int64]:
        """Of every term, the texts that contain it."""
        return np.array(self._in_texts, np.int64)

    @property
    def occurrences(self) -> NDArray[np.int64]:
        """Of every term, its occurrences in all texts."""
        return np.array(self._occurrences, np.int64)

    def learn(self, texts: Sequence[str | bytes], alphabet: NDArray[np.uint32], threads: int) -> Counts:
        """Counts in the order of first occurrence; terms are numbered as they come."""
        del threads
        rows = [Counter(map(self._number, self._terms(text, alphabet))) for text in texts]
        for row in rows:
            for term, count in row.items():
                self._in_texts[term] += 1
                self._occurrences[term] += count
        return _pack([list(row.items()) for row in rows])

    def look_up(self, texts: Sequence[str | bytes], alphabet: NDArray[np.uint32], threads: int) -> Counts:
        """Counts of the known terms, sorted."""
        del threads
        known = self._numbers
        return _pack([
            sorted(Counter(known[term] for term in self._terms(text, alphabet) if term in known).items())
            for text in texts
        ])  # fmt: skip

    def hash(self, texts: Sequence[str | bytes], alphabet: NDArray[np.uint32], bits: int, threads: int) -> Counts:
        """Counts of all terms by |MurmurHash3 as a signed number| modulo 2^bits, sorted."""
        del threads

        def column(term: str) -> int:
            h = murmur3(term.encode("utf-8", "surrogatepass"))
            return min(h, (1 << 32) - h) % (1 << bits)

        return _pack([sorted(Counter(map(column, self._terms(text, alphabet))).items()) for text in texts])

    def insert(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        """Number the terms of a table that was stored."""
        for start, end in pairwise(offsets.tolist()):
            self._number(_decoded(data[start:end].tobytes()))

    def sorted(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """The numbers of terms, in the order of the terms' code points."""
        terms = list(self._numbers)
        return np.array(sorted(ids.tolist(), key=terms.__getitem__), np.int32)

    def terms(self, ids: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The terms one after another in UTF-8, and where each begins."""
        terms = list(self._numbers)
        encoded = [terms[i].encode("utf-8", "surrogatepass") for i in ids]
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return np.frombuffer(b"".join(encoded), np.uint8), offsets

    def _number(self, term: str) -> int:
        if term not in self._numbers:
            self._numbers[term] = len(self._numbers)
            self._in_texts.append(0)
            self._occurrences.append(0)
        return self._numbers[term]

    def _terms(self, text: str | bytes, alphabet: NDArray[np.uint32]) -> Iterator[str]:
        if self._kind == "word":
            found = _split(text) if self._token_length == 0 else self._words(text, alphabet)
            words = [word for word in found if word not in self._stop]
            return (" ".join(words[i : i + n]) for n in self._sizes for i in range(len(words) - n + 1))
        runs = _runs(text, alphabet, _IS_SPACE)
        if self._kind == "char":
            whole = "".join(" " if space and len(run) > 1 else run for space, run in runs)
            return _slices(whole, self._sizes)
        return self._padded([f" {run} " for space, run in runs if not space])

    def _words(self, text: str | bytes, alphabet: NDArray[np.uint32]) -> list[str]:
        return [run for inside, run in _runs(text, alphabet, _IN_WORD) if inside and len(run) >= self._token_length]

    def _padded(self, words: Sequence[str]) -> Iterator[str]:
        for word in words:
            yield from _slices(word, self._sizes) if len(word) >= self._sizes[0] else [word]


def arrange_counts(
    start: NDArray[np.int64],
    ids: NDArray[np.int32],
    counts: NDArray[np.int32],
    columns: NDArray[np.int32],
    threads: int,
) -> Counts:
    """The rows renumbered by `columns` and sorted; entries with column -1 are dropped, equal columns added up."""
    del threads
    rows = []
    for first, last in pairwise(start.tolist()):
        row: Counter[int] = Counter()
        for column, count in zip(columns[ids[first:last]].tolist(), counts[first:last].tolist(), strict=True):
            if column >= 0:
                row[column] += count
        rows.append(sorted(row.items()))
    return _pack(rows)


def murmur3(data: bytes) -> int:
    """MurmurHash3 of 32 bits with seed 0 (Austin Appleby)."""

    def rotated(x: int, by: int) -> int:
        return (x << by | x >> (32 - by)) & 0xFFFFFFFF

    def scrambled(k: int) -> int:
        return rotated(k * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF

    h, whole = 0, len(data) // 4 * 4
    for i in range(0, whole, 4):
        h = (rotated(h ^ scrambled(int.from_bytes(data[i : i + 4], "little")), 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= scrambled(int.from_bytes(data[whole:], "little")) ^ len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def _runs(text: str | bytes, alphabet: NDArray[np.uint32], bit: int) -> list[tuple[bool, str]]:
    """The folded text in runs of characters that all have the bit or all lack it."""
    points = [ord(character) for character in (text if isinstance(text, str) else _decoded(text))]
    known = [int(alphabet[point]) if point < len(alphabet) else point << 2 for point in points]
    runs = groupby(known, lambda entry: bool(entry & bit))
    return [(has, "".join(chr(entry >> 2) for entry in run)) for has, run in runs]


def _split(text: str | bytes) -> list[str]:
    given = text.encode() if isinstance(text, str) else text
    return [_decoded(word) for word in given.split(b"\xff")[:-1]]


def _slices(text: str, sizes: range) -> Iterator[str]:
    return (text[i : i + n] for n in sizes for i in range(len(text) - n + 1))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _pack(rows: Sequence[Sequence[tuple[int, int]]]) -> Counts:
    entries = np.array([entry for row in rows for entry in row], np.int32).reshape(-1, 2)
    start = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return start, np.ascontiguousarray(entries[:, 0]), np.ascontiguousarray(entries[:, 1])

"""Where in a text the terms of its tf-idf row stand: what each entry is worth is shared among the words it came from.

The kernel that counts terms is asked again, for runs of words instead of the whole text. With V(run) what the terms of
a run of words are worth together, what the run has that no shorter run in it has is

    V(w1 … wm) - V(w1 … wm-1) - V(w2 … wm) + V(w2 … wm-1)

and belongs to its m words in equal parts: a pair of words to both, characters that reach over a space to the words on
its sides. So there is no second definition of a term, and hashed columns, which know no terms, are shared as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from treetop.sparse import from_parts
from treetop.text.analysis import WORD_PATTERNS, strip_accents
from treetop.text.columns import Columns, Kind
from treetop.text.rows import Counts
from treetop.text.stopwords import ENGLISH
from treetop.text.tfidf import Tfidf, TfidfConfig
from treetop.types import Ids

__all__ = ["Spans", "overlap", "shared_out", "spans_of"]

Spans: TypeAlias = NDArray[np.int64]
"""Where words begin and end in a text: (words, 2)."""
Numbers: TypeAlias = NDArray[np.float64]

_ANY_WORD = re.compile(r"\w+|[^\w\s]+")
_BETWEEN_SPACES = r"\S+"
_ROUNDING = 1e-12  # of the largest value: less is what sums in another order differ by


def spans_of(text: str, config: TfidfConfig | None = None) -> Spans:
    """The words of a text: as tf-idf cuts them, and what is between them in letters and marks. In their order."""
    if text.isascii() and (config is None or config.token_pattern in WORD_PATTERNS):
        return _as_spans([match.span() for match in _ANY_WORD.finditer(text)])  # one walk finds both
    words = [] if config is None or config.word_ngrams is None else _find(text, config.token_pattern, config)
    found, last = [], 0
    for start, end in [*words, (len(text), len(text))]:
        gap = text[last:start]
        if gap and not gap.isspace():
            found += [(last + part.start(), last + part.end()) for part in _ANY_WORD.finditer(gap)]
        found += [(start, end)] if end > start else []
        last = end
    return _as_spans(found)


def shared_out(tfidf: Tfidf, text: str, columns: Ids, values: Numbers, spans: Spans) -> Numbers:
    """What each word has of the values (columns, …) of the given columns, sorted, of a text's row: (words, …).

    A column's value is divided among the places where it occurs; nobody has what no run of words has, as spaces at the
    ends of a text.
    """
    total, first = np.zeros((len(spans), *values.shape[1:])), 0
    for block in tfidf.blocks:
        inside = slice(*np.searchsorted(columns, [first, first + block.width]))
        if inside.start < inside.stop:
            pieces, texts = _pieces(text, block.kind, tfidf.config)
            worth = _Worth(block, columns[inside] - first, values[inside], text)
            total += overlap(spans, pieces) @ worth.shared(texts)
        first += block.width
    total[np.abs(total) < _ROUNDING * np.abs(values).max(initial=0)] = 0
    return total


def overlap(spans: Spans, pieces: Spans) -> sp.csr_array:
    """The share of each piece that is in each word, in equal parts for the words it touches: (words, pieces)."""
    first = np.searchsorted(spans[:, 1], pieces[:, 0], "right")
    last = np.maximum(np.searchsorted(spans[:, 0], pieces[:, 1], "left"), first)
    sizes = last - first
    rows = np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    values = np.repeat(1 / np.maximum(sizes, 1), sizes)
    return sp.csr_array((values, (rows, np.repeat(np.arange(len(pieces)), sizes))), shape=(len(spans), len(pieces)))


class _Worth:
    """What runs of a text's words are worth, by the columns that they have."""

    def __init__(self, block: Columns, columns: Ids, values: Numbers, text: str) -> None:
        self._block, self._columns = block, columns
        _, place, counts = self._counted([text])
        often = np.zeros(len(columns) + 1)
        often[place] = counts
        each = values.reshape(len(values), -1) / np.maximum(often[:-1, None], 1)
        self._each = np.concatenate([each, np.zeros((1, each.shape[1]))])  # the last is for all other columns
        self._shape = values.shape[1:]

    def shared(self, pieces: Sequence[str]) -> Numbers:
        """What each piece has of the whole: (pieces, …)."""
        shorter, worth = np.empty(0), self._of(pieces)
        total = worth.copy()
        for size in range(2, min(_reach(self._block.kind), len(pieces)) + 1):
            longer = self._of(_runs(pieces, size))
            within = longer - worth[:-1] - worth[1:] + (shorter[1:-1] if size > 2 else 0)
            for at in range(size):
                total[at : at + len(within)] += within / size
            shorter, worth = worth, longer
        return total.reshape(len(pieces), *self._shape)

    def _of(self, texts: Sequence[str]) -> Numbers:
        """The worth of each text."""
        number = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        start, place, counts = self._counted(list(number))
        rows = from_parts(start, place, counts.astype(np.float64), columns=len(self._each))
        return np.asarray((rows @ self._each)[[number[text] for text in texts]])

    def _counted(self, texts: Sequence[str]) -> Counts:
        """How often each text has the columns: where texts begin, places among the columns, or behind them, counts."""
        start, ids, counts = self._block.count(texts, 1)
        place = np.searchsorted(self._columns, ids).astype(np.int32)
        place[self._columns[np.minimum(place, len(self._columns) - 1)] != ids] = len(self._columns)
        return start, place, counts


def _runs(pieces: Sequence[str], size: int) -> list[str]:
    """All runs of so many pieces that follow one another."""
    return [" ".join(run) for run in zip(*(pieces[at:] for at in range(size)), strict=False)]


def _reach(kind: Kind) -> int:
    """Pieces in the longest run that a single term can need: characters may begin and end with a space."""
    longest = kind.ngrams[1]
    return {"word": longest, "char_wb": 1}.get(kind.name, (longest + 1) // 2 + 1)


def _pieces(text: str, kind: Kind, config: TfidfConfig) -> tuple[Spans, list[str]]:
    """What a kind of n-gram is made from, where it stands: words that are not left out, or what is between spaces."""
    words = kind.name == "word"
    found = _find(text, config.token_pattern if words else _BETWEEN_SPACES, config)
    stop = set(ENGLISH if config.stop_words == "english" else config.stop_words or ()) if words else set()
    if stop:
        found = [(start, end) for start, end in found if _folded(text[start:end], config) not in stop]
    return _as_spans(found), [text[start:end] for start, end in found]


@lru_cache(maxsize=2)
def _find(text: str, pattern: str, config: TfidfConfig) -> Sequence[tuple[int, int]]:
    """Where a pattern matches the text as tf-idf reads it, in the places of the text as it is."""
    group = min(re.compile(pattern).groups, 1)
    if text.isascii():
        return [match.span(group) for match in re.finditer(pattern, _folded(text, config))]
    folded = {character: _folded(character, config) for character in set(text)}
    each = [folded[character] for character in text]
    behind = np.cumsum([len(part) for part in each])
    places = _as_spans([match.span(group) for match in re.finditer(pattern, "".join(each))])
    starts, ends = (np.searchsorted(behind, at, "right") for at in (places[:, 0], places[:, 1] - 1))
    return list(zip(starts.tolist(), (ends + 1).tolist(), strict=True))


def _folded(text: str, config: TfidfConfig) -> str:
    text = text.lower() if config.lowercase else text
    return text if config.strip_accents is None else strip_accents(text, ascii_only=config.strip_accents == "ascii")


def _as_spans(found: Sequence[tuple[int, int]]) -> Spans:
    return np.fromiter(chain.from_iterable(found), np.int64, 2 * len(found)).reshape(-1, 2)

"""Where in a text the terms of its tf-idf row stand: each entry of the row is shared among the words it came from.

The kernel that counts terms is asked again, for runs of words instead of the whole text. With C(run) the counts of a
run of words, what the run has that no shorter run in it has is

    C(w1 … wm) - C(w1 … wm-1) - C(w2 … wm) + C(w2 … wm-1)

and belongs to its m words in equal parts: a pair of words to both, characters that reach over a space to the words on
its sides. So there is no second definition of a term, and hashed columns, which know no terms, are shared as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from treetop.text.analysis import strip_accents
from treetop.text.columns import Columns, Kind
from treetop.text.stopwords import ENGLISH
from treetop.text.tfidf import Tfidf, TfidfConfig
from treetop.types import Ids

__all__ = ["Spans", "occurrences", "overlap", "spans_of"]

Spans: TypeAlias = NDArray[np.int64]
"""Where words begin and end in a text: (words, 2)."""

_ANY_WORD = re.compile(r"\w+|[^\w\s]+")
_BETWEEN_SPACES = r"\S+"


def spans_of(text: str, config: TfidfConfig | None = None) -> Spans:
    """The words of a text: as tf-idf cuts them, and what is between them in letters and marks. In their order."""
    words = [] if config is None or config.word_ngrams is None else _find(text, config.token_pattern, config)
    found, last = [], 0
    for start, end in [*words, (len(text), len(text))]:
        gap = text[last:start]
        if gap and not gap.isspace():
            found += [(last + part.start(), last + part.end()) for part in _ANY_WORD.finditer(gap)]
        found += [(start, end)] if end > start else []
        last = end
    return _as_spans(found)


def occurrences(tfidf: Tfidf, text: str, columns: Ids, spans: Spans) -> sp.csr_array:
    """The share that each word has in each of the given columns, sorted, of a text's row: (words, columns).

    The shares of a column add up to one, but for terms that no run of words has, as spaces at the ends of a text.
    """
    total, first = sp.csr_array((len(spans), len(columns))), 0
    for block in tfidf.blocks:
        inside = slice(*np.searchsorted(columns, [first, first + block.width]))
        own = columns[inside] - first
        placed = sp.csr_array((len(spans), len(columns)))
        if len(own):
            pieces, texts = _pieces(text, block.kind, tfidf.config)
            shares = overlap(spans, pieces) @ _shares(block, text, texts, own)
            placed = sp.hstack([sp.csr_array((len(spans), inside.start)), shares,
                                sp.csr_array((len(spans), len(columns) - inside.stop))], format="csr")  # fmt: skip
        total, first = total + placed, first + block.width
    return sp.csr_array(total)


def overlap(spans: Spans, pieces: Spans) -> sp.csr_array:
    """The share of each piece that is in each word, in equal parts for the words it touches: (words, pieces)."""
    first = np.searchsorted(spans[:, 1], pieces[:, 0], "right")
    last = np.maximum(np.searchsorted(spans[:, 0], pieces[:, 1], "left"), first)
    sizes = last - first
    rows = np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    values = np.repeat(1 / np.maximum(sizes, 1), sizes)
    return sp.csr_array((values, (rows, np.repeat(np.arange(len(pieces)), sizes))), shape=(len(spans), len(pieces)))


def _shares(block: Columns, text: str, pieces: Sequence[str], columns: Ids) -> sp.csr_array:
    """The same for the pieces that a block's terms are made from, and its own columns."""
    shorter, counts = _counts(block, _runs(pieces, 0), columns), _counts(block, pieces, columns)
    total = counts
    for size in range(2, _reach(block.kind) + 1):
        if len(pieces) < size:
            break
        longer = _counts(block, _runs(pieces, size), columns)
        within = longer - counts[:-1] - counts[1:] + (shorter[1:-1] if size > 2 else 0 * longer)
        total = total + _spread(len(pieces), size) @ within
        shorter, counts = counts, longer
    whole = np.asarray(_counts(block, [text], columns).sum(axis=0)).ravel()
    return sp.csr_array(total @ sp.diags_array(1 / np.maximum(whole, 1)))


def _counts(block: Columns, texts: Sequence[str], columns: Ids) -> sp.csr_array:
    """How often each of the columns occurs in each text."""
    distinct = list(dict.fromkeys(texts))
    start, ids, counts = block.count(distinct, 1)
    place = np.searchsorted(columns, ids)
    known = (place < len(columns)) & (columns[np.minimum(place, len(columns) - 1)] == ids)
    rows = np.repeat(np.arange(len(distinct)), np.diff(start))[known]
    shape = (len(distinct), len(columns))
    found = sp.csr_array((counts[known].astype(np.float64), (rows, place[known])), shape=shape)
    if len(distinct) == len(texts):
        return found
    number = {text: row for row, text in enumerate(distinct)}
    return found[[number[text] for text in texts]]


def _runs(pieces: Sequence[str], size: int) -> list[str]:
    """All runs of so many pieces that follow one another."""
    return [" ".join(pieces[at : at + size]) for at in range(len(pieces) - size + 1)] if size else []


def _spread(pieces: int, size: int) -> sp.csr_array:
    """Pieces × runs: each run in equal parts to its pieces."""
    runs = pieces - size + 1
    rows = np.arange(runs)[:, None] + np.arange(size)
    columns = np.repeat(np.arange(runs), size)
    return sp.csr_array((np.full(runs * size, 1 / size), (rows.ravel(), columns)), shape=(pieces, runs))


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


def _find(text: str, pattern: str, config: TfidfConfig) -> list[tuple[int, int]]:
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
    return np.array(found, np.int64).reshape(-1, 2)

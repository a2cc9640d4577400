"""Finding label names in texts: which words and pairs of words of a name a text has.

A name counts by its words and pairs of neighbouring words, each by how rare it is in texts. With I(T) the sum of idf(t)
over the terms t in T, N the terms of a label's name, F those of them that the text has, and M the median of I(N):

    share(text, label) = I(F) / I(N) · (I(N) / M)^¼

which is about 1 if the whole name is there in a row, somewhat more if it is long and its words are rare, less if it is
a common word, and 0 if no word of it is there. Pairs make the order of words count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.data import Corpus
from treetop.errors import StoreError
from treetop.kernels import NamePostings
from treetop.sparse import check_rows, from_parts, row_numbers
from treetop.store import Folder
from treetop.text import Tfidf, TfidfConfig
from treetop.types import CSR

__all__ = ["NameIndex", "NamePart"]

_WORDS = r"(?u)\b\w+\b"  # a single letter may be a name, or tell two names apart
_NAMES_COUNT = 100  # texts that all names together count as, where it is about how rare a word is
_SHARED = 0.75  # from 0, found words count by their rarity alone, to 1, by their share of the name alone
_TENSORS = "names.safetensors"


class NamePart(NamedTuple):
    """A word of a label's name, or a pair of neighbouring words, that a text has."""

    words: str
    share: float
    """Its share of the name."""


@dataclass(frozen=True, slots=True, eq=False)
class NameIndex:
    """The words and pairs of words of all label names, and the names that have each of them."""

    terms: Tfidf
    postings: NamePostings
    labels: int

    @classmethod
    def build(cls, names: Sequence[str], texts: Sequence[str], *, accents: Any = None, threads: int = 0) -> NameIndex:
        """An index of names; the texts, any of the kind to come, tell which words are common."""
        config = TfidfConfig(
            word_ngrams=(1, 2), token_pattern=_WORDS, strip_accents=accents, use_idf=False, norm=None
        )  # fmt: skip
        terms = Tfidf(config)
        of_names = terms.fit_transform([_spaced(name) for name in names], threads=threads)
        in_names = np.bincount(of_names.indices, minlength=terms.width)
        in_texts = np.zeros(terms.width)
        for rows in terms.transform_chunks(texts, threads=threads):
            in_texts += np.bincount(rows.indices, minlength=terms.width)
        seen_in = in_texts + in_names * (_NAMES_COUNT / max(len(names), 1))
        rarity = np.log((1 + len(texts) + _NAMES_COUNT) / (1 + seen_in)) + 1
        return cls(terms, _postings(of_names, rarity), len(names))

    def terms_of(self, corpus: Corpus, *, threads: int = 0) -> CSR:
        """Which terms of names each text has; none where there are only features."""
        if len(corpus.texts):
            return self.terms.transform(corpus.texts, threads=threads)
        empty = np.zeros(len(corpus) + 1, np.int64)
        return from_parts(empty, np.empty(0, np.int32), None, columns=self.terms.width)

    def parts_of(self, text: str, label: int) -> list[NamePart]:
        """The parts of a label's name that are in a text, the weightiest first."""
        start, labels, share = self.postings
        (words,) = self.terms.blocks
        found = []
        for term in self.terms.transform([text]).indices.tolist():
            here = slice(start[term], start[term + 1])
            at = np.flatnonzero(labels[here] == label)
            found += [NamePart(words.term(term), float(share[here][place])) for place in at]
        return sorted(found, key=lambda part: -part.share)

    def save(self, folder: Folder) -> None:
        """Write it into a folder of its own."""
        self.terms.save(folder)
        folder.write_tensors(_TENSORS, self.postings._asdict())

    @classmethod
    def load(cls, folder: Folder, labels: int) -> NameIndex:
        """Read the index of so many names, mapped into memory."""
        terms, arrays = Tfidf.load(folder), folder.read_tensors(_TENSORS)
        postings = NamePostings(*(arrays[name] for name in NamePostings._fields))
        with folder.reading(_TENSORS) as path:
            kinds = [array.dtype.name for array in postings]
            if kinds != ["int64", "int32", "float32"] or not np.isfinite(postings.share).all():
                raise StoreError("the file is damaged (not an index of names); learn the names again", path=path)
            shape = (terms.width, labels)
            check_rows(postings.start, postings.label, len(postings.share), shape, what="the index of names")
        return cls(terms, postings, labels)


def _spaced(name: str) -> str:
    """The words of a name that is written as one, such as soft_wheat."""
    return name.replace("_", " ")


def _postings(of_names: CSR, rarity: NDArray[np.float64]) -> NamePostings:
    """Labels × terms turned round, each term with its share of the name."""
    weight = rarity[of_names.indices]
    label = row_numbers(of_names)
    whole = np.bincount(label, weights=weight, minlength=of_names.shape[0])
    usual = np.median(whole[whole > 0]) if whole.any() else 1.0
    share = (weight / (whole**_SHARED * usual ** (1 - _SHARED))[label]).astype(np.float32)
    order = np.argsort(of_names.indices, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(of_names.indices, minlength=of_names.shape[1]))])
    return NamePostings(start.astype(np.int64), label[order].astype(np.int32), share[order])

"""Which column of the feature matrix a term has: by a vocabulary that is learned, or by a hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop.errors import DataError
from treetop.kernels import TermIndex, arrange_counts
from treetop.text.analysis import Encode, alphabet
from treetop.text.rows import Counts
from treetop.types import Ids

__all__ = ["Columns", "Hashed", "Kind", "Limits", "Vocabulary"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One kind of n-gram and how to find it in a text."""

    name: str
    """`word`, `char_wb` or `char`."""
    ngrams: tuple[int, int]
    """Words or characters in the shortest and the longest n-gram."""
    encode: Encode
    """Makes a text ready for the kernel."""
    fold: bool
    """Whether the kernel folds capitals to small letters."""
    token_length: int = 0
    """Characters in a word, at least; 0 if `encode` finds the words."""
    stop_words: Sequence[str] = ()
    """Words left out before n-grams are made."""

    def index(self) -> TermIndex:
        """An empty index of terms of this kind."""
        return TermIndex(
            kind=self.name,
            shortest=self.ngrams[0],
            longest=self.ngrams[1],
            token_length=self.token_length,
            stop=[word.encode("utf-8", "surrogatepass") for word in self.stop_words],
        )

    def encoded(self, texts: Sequence[str]) -> tuple[list[str | bytes], NDArray[np.uint32]]:
        """The texts for the kernel, with what it must know of their characters."""
        encode = self.encode
        ready = [encode(text) for text in texts]
        return ready, alphabet(lowercase=self.fold, ascii_only=all(isinstance(text, str) for text in ready))


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Which terms stay in a vocabulary."""

    fewest_texts: float
    """A term occurs in at least so many texts."""
    most_texts: float
    """A term occurs in at most so many texts."""
    most_terms: int | None
    """So many of the most frequent terms are kept."""


class Vocabulary:
    """Columns are the learned terms of one kind, in the order of their code points."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self._index = kind.index()
        self._bytes = np.empty(0, np.uint8)
        self._offsets = np.zeros(1, np.int64)
        self.in_texts = np.empty(0, np.int64)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self._offsets) - 1

    @property
    def terms(self) -> list[str]:
        """The term of every column."""
        data, offsets = self._bytes.tobytes(), self._offsets.tolist()
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets)]

    def term(self, column: int) -> str:
        """The term of a column."""
        term = self._bytes[self._offsets[column] : self._offsets[column + 1]].tobytes()
        return term.decode("utf-8", "surrogatepass")

    def learn(self, texts: Sequence[str], threads: int) -> Counts:
        """Count terms and remember the new ones; columns are provisional until `settle`."""
        return self._index.learn(*self.kind.encoded(texts), threads)

    def settle(self, limits: Limits) -> Ids:
        """Keep the terms within the limits, sorted; returns the column of each provisional one, or -1."""
        index, in_texts = self._index, self._index.in_texts
        kept = np.flatnonzero((in_texts >= limits.fewest_texts) & (in_texts <= limits.most_texts)).astype(np.int32)
        kept = index.sorted(kept)
        if limits.most_terms is not None and limits.most_terms < len(kept):
            by_frequency = np.argsort(-index.occurrences[kept], kind="stable")  # ties: by term
            kept = kept[np.sort(by_frequency[: limits.most_terms])]
        columns = np.full(len(index), -1, np.int32)
        columns[kept] = np.arange(len(kept), dtype=np.int32)
        self._bytes, self._offsets = index.terms(kept)
        self.in_texts = in_texts[kept]
        self._index = self.kind.index()
        return columns

    def settled(self, counts: Counts, columns: Ids, threads: int) -> Counts:
        """Counts of `learn` in the columns that `settle` returned."""
        return arrange_counts(*counts, columns, threads)

    def count(self, texts: Sequence[str], threads: int) -> Counts:
        """Count the known terms."""
        if len(self._index) < self.width:  # made when first needed: a loaded model opens at once
            index = self.kind.index()
            index.insert(self._bytes, self._offsets)
            self._index = index
        return self._index.look_up(*self.kind.encoded(texts), threads)

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """What `restore` needs."""
        return {"terms": self._bytes, "offsets": self._offsets}

    def restore(self, tensors: Mapping[str, NDArray[np.generic]]) -> None:
        """Take over what `tensors` returned."""
        data, offsets = tensors["terms"], tensors["offsets"]
        fits = data.dtype == np.uint8 and offsets.dtype == np.int64 and data.ndim == offsets.ndim == 1
        if not (
            fits and len(offsets) and offsets[0] == 0 and offsets[-1] == len(data) and np.all(np.diff(offsets) >= 0)
        ):
            raise DataError("the terms do not fit their offsets")
        self._bytes, self._offsets = np.asarray(data), np.asarray(offsets)


class Hashed:
    """Columns are 2^bits hash values (MurmurHash3) of the terms of one kind; different terms may share one."""

    def __init__(self, kind: Kind, bits: int) -> None:
        self.kind = kind
        self._bits = bits
        self._index = kind.index()
        self.in_texts = np.zeros(1 << bits, np.int64)

    @property
    def width(self) -> int:
        """The number of columns."""
        return 1 << self._bits

    @property
    def terms(self) -> list[str]:
        """Refused: hashed columns have no terms."""
        raise DataError("with hash_bits a column belongs to no particular term; set hash_bits=None to keep terms")

    def term(self, column: int) -> str:
        """Refused as well."""
        return self.terms[column]

    def learn(self, texts: Sequence[str], threads: int) -> Counts:
        """Count terms, and in how many texts each column occurs."""
        counts = self.count(texts, threads)
        self.in_texts += np.bincount(counts[1], minlength=self.width)
        return counts

    def settle(self, limits: Limits) -> Ids:
        """Nothing to choose: every column stays."""
        del limits
        return np.empty(0, np.int32)

    def settled(self, counts: Counts, columns: Ids, threads: int) -> Counts:
        """Counts of `learn`, which are in their columns already."""
        del columns, threads
        return counts

    def count(self, texts: Sequence[str], threads: int) -> Counts:
        """Count the terms."""
        ready, characters = self.kind.encoded(texts)
        return self._index.hash(ready, characters, self._bits, threads)

    def tensors(self) -> dict[str, NDArray[np.generic]]:
        """Nothing: the hash is the same everywhere."""
        return {}

    def restore(self, tensors: Mapping[str, NDArray[np.generic]]) -> None:
        """Nothing to take over."""
        del tensors


Columns: TypeAlias = Vocabulary | Hashed

r"""Texts to sparse features: term frequency times inverse document frequency.

For a term t of a text d, among n texts of which df(t) contain t:

    value(d, t) = tf(d, t) · idf(t)          tf = count, or 1 + ln(count) if sublinear
    idf(t) = ln((1 + n) / (1 + df(t))) + 1   without smoothing: ln(n / df(t)) + 1

and every row is scaled to length one (Salton & Buckley, Information Processing & Management 24(5), 1988). Definitions,
options and values are those of scikit-learn's `TfidfVectorizer`. Columns are in the order of the terms' code points,
as there; with several kinds of n-grams the blocks follow one another: word, char_wb, char.

Texts may come from any iterable. They are taken in chunks of about 8 million characters, so that `fit` holds the
vocabulary and one chunk, and `transform_chunks` one chunk and its rows. The result is the same for any thread count.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from treetop.config import from_dict, to_dict
from treetop.errors import ConfigError, DataError, NotFittedError, StoreError
from treetop.runtime import cores_of
from treetop.sparse import from_parts
from treetop.store import Folder
from treetop.text.analysis import WORD_PATTERNS, check_pattern, encoder, word_encoder
from treetop.text.columns import Columns, Hashed, Kind, Limits, Vocabulary
from treetop.text.rows import Counts, RowBuffer, Rows, chunks, row_slices, scale_rows, too_large
from treetop.text.stopwords import ENGLISH
from treetop.types import CSR, Floats, Ids

__all__ = ["Tfidf", "TfidfConfig"]

_FORMAT = 1
_MOST_HASH_BITS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class TfidfConfig:
    """What becomes a feature and what it weighs; names and defaults as in scikit-learn where it has the option."""

    word_ngrams: tuple[int, int] | None = (1, 1)
    """Shortest and longest n-gram of words; None for no such features."""
    char_wb_ngrams: tuple[int, int] | None = None
    """Shortest and longest n-gram of the characters of one word with a space on either side; None for none."""
    char_ngrams: tuple[int, int] | None = None
    """Shortest and longest n-gram of characters, across words; None for none."""
    lowercase: bool = True
    """Fold capitals to small letters first."""
    strip_accents: Literal["unicode", "ascii"] | None = None
    """Remove combining marks ("unicode"), or whatever has no ASCII base letter ("ascii")."""
    token_pattern: str = r"(?u)\b\w\w+\b"
    """Regular expression of a word. One other than this, or the same with a single `\\w`, is slower: Python runs it."""
    stop_words: str | tuple[str, ...] | None = None
    """Words left out before word n-grams are made: "english", or a list; None for none."""
    min_df: int | float = 1
    """A term is kept if it occurs in at least so many texts (int) or such a fraction of them (float)."""
    max_df: int | float = 1.0
    """A term is kept if it occurs in at most so many texts (int) or such a fraction of them (float)."""
    max_features: int | None = None
    """So many terms are kept of each kind of n-gram: the most frequent, ties by term; None for all."""
    sublinear_tf: bool = False
    """A term that occurs n times counts 1 + ln(n) instead of n."""
    use_idf: bool = True
    """Rare terms weigh more."""
    smooth_idf: bool = True
    """Compute idf as if one more text contained every term."""
    norm: Literal["l2", "l1"] | None = "l2"
    """Length of a row that becomes one; None to leave rows as they are."""
    hash_bits: int | None = None
    """Instead of a vocabulary, 2^hash_bits columns for each kind of n-gram, chosen by a hash; None for a vocabulary."""

    def __post_init__(self) -> None:
        for name in ("word_ngrams", "char_wb_ngrams", "char_ngrams"):
            _check_range(name, getattr(self, name))
        if self.word_ngrams is self.char_wb_ngrams is self.char_ngrams is None:
            raise ConfigError("no kind of n-gram is chosen; set word_ngrams, char_wb_ngrams or char_ngrams")
        _check_choice("strip_accents", self.strip_accents, ("unicode", "ascii", None))
        _check_choice("norm", self.norm, ("l2", "l1", None))
        check_pattern(self.token_pattern)
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            raise ConfigError(f"stop_words is {self.stop_words!r}; the only list with a name is 'english'")
        _check_frequency("min_df", self.min_df)
        _check_frequency("max_df", self.max_df)
        if self.max_features is not None and self.max_features < 1:
            raise ConfigError(f"max_features is {self.max_features}; give a positive number, or None for all terms")
        self._check_hash()

    def _check_hash(self) -> None:
        if self.hash_bits is None:
            return
        if not 1 <= self.hash_bits <= _MOST_HASH_BITS:
            raise ConfigError(f"hash_bits is {self.hash_bits}; give 1 to {_MOST_HASH_BITS}, or None for a vocabulary")
        if (self.min_df, self.max_df, self.max_features) != (1, 1.0, None) or isinstance(self.max_df, int):
            raise ConfigError(
                "min_df, max_df and max_features choose terms of a vocabulary; leave them out with hash_bits"
            )


def _check_range(name: str, value: Sequence[int] | None) -> None:
    if value is not None and not (len(value) == 2 and 1 <= value[0] <= value[1]):
        raise ConfigError(f"{name} is {value!r}; give (shortest, longest) with 1 <= shortest <= longest, or None")


def _check_choice(name: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{name} is {value!r}; choose one of {', '.join(map(repr, choices))}")


def _check_frequency(name: str, value: int | float) -> None:
    if isinstance(value, int) and value < 1:
        raise ConfigError(f"{name} is {value}; as a number of texts it is at least 1")
    if isinstance(value, float) and not 0.0 <= value <= 1.0:
        raise ConfigError(f"{name} is {value}; as a fraction of the texts it is from 0.0 to 1.0 (a count has no point)")


def _kinds(config: TfidfConfig) -> Iterator[Kind]:
    stop_words = ENGLISH if config.stop_words == "english" else config.stop_words or ()
    encode, fold = encoder(lowercase=config.lowercase, accents=config.strip_accents)
    least = WORD_PATTERNS.get(config.token_pattern, 0)
    if config.word_ngrams is not None:
        own = least == 0
        words = word_encoder(config.token_pattern, lowercase=config.lowercase, accents=config.strip_accents)
        yield Kind(
            name="word",
            ngrams=config.word_ngrams,
            encode=words if own else encode,
            fold=fold and not own,
            token_length=least,
            stop_words=sorted(stop_words),
        )
    for name, ngrams in (("char_wb", config.char_wb_ngrams), ("char", config.char_ngrams)):
        if ngrams is not None:
            yield Kind(name=name, ngrams=ngrams, encode=encode, fold=fold)


class Tfidf:
    """Turns texts into tf-idf rows. `fit` learns vocabulary and idf; `transform` applies them.

    >>> tfidf = Tfidf(TfidfConfig(sublinear_tf=True))
    >>> tfidf.fit_transform(["the cat sat", "the dog sat down"]).shape
    (2, 5)
    >>> tfidf.terms
    ['cat', 'dog', 'down', 'sat', 'the']
    """

    def __init__(self, config: TfidfConfig | None = None) -> None:
        self.config = config or TfidfConfig()
        self._idf: Floats | None = None
        self._columns: list[Columns] = []
        if self.config.hash_bits is not None and not self.config.use_idf:
            self._columns = self._new_columns()  # nothing to learn

    @property
    def width(self) -> int:
        """The number of columns."""
        return sum(columns.width for columns in self._fitted())

    @property
    def blocks(self) -> list[Columns]:
        """The columns of each kind of n-gram, block after block."""
        return self._fitted()

    @property
    def terms(self) -> list[str]:
        """The term of every column, made anew on every call. With `hash_bits` there are none."""
        return [term for columns in self._fitted() for term in columns.terms]

    @property
    def idf(self) -> Floats | None:
        """The inverse document frequency of every column; None without `use_idf`."""
        self._fitted()
        return self._idf

    def fit(self, texts: Iterable[str], *, threads: int = 0) -> Tfidf:
        """Learn vocabulary and idf; `threads` 0 means every core."""
        self._learn(texts, threads, keep=False)
        return self

    def fit_transform(self, texts: Iterable[str], *, threads: int = 0) -> CSR:
        """The same as `fit`, then `transform`, in one pass over the texts; in two, if their counts are too many."""
        kept, moved = self._learn(texts, threads, keep=True)
        if kept is None:
            return self.transform(texts, threads=threads)
        cores, buffer = cores_of(threads), RowBuffer(self.width)
        while kept:
            for counts in row_slices(kept.popleft()):  # let go chunk by chunk
                each = zip(self._columns, counts, moved, strict=True)
                buffer.append(self._weigh([part.settled(rows, to, cores) for part, rows, to in each]))
        return buffer.finish()

    def transform(self, texts: Iterable[str], *, threads: int = 0) -> CSR:
        """The rows of the texts; terms that `fit` has not seen are left out."""
        buffer = RowBuffer(self.width)
        for rows in self._rows(texts, threads):
            buffer.append(rows)
        return buffer.finish()

    def transform_chunks(self, texts: Iterable[str], *, threads: int = 0) -> Iterator[CSR]:
        """The rows of the texts, some thousands at a time, for features that do not fit in memory."""
        width = self.width
        return (from_parts(*rows, columns=width) for rows in self._rows(texts, threads))

    @property
    def stored_bytes(self) -> int:
        """Bytes of the vocabulary and its weights, as they are stored."""
        return sum(array.nbytes for array in self._tensors().values())

    def save(self, folder: Folder) -> None:
        """Write `tfidf.json` and `tfidf.safetensors`."""
        tensors = self._tensors()
        folder.write_json("tfidf.json", {"format": _FORMAT, "width": self.width, "config": to_dict(self.config)})
        folder.write_tensors("tfidf.safetensors", tensors)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied as what is stored: the native table of terms is made anew."""
        if not self._columns:
            return type(self), (self.config,)
        return type(self)._restored, (self.config, self.width, self._tensors())

    def _tensors(self) -> dict[str, NDArray[Any]]:
        tensors = {f"{c.kind.name}.{name}": array for c in self._fitted() for name, array in c.tensors().items()}
        return tensors if self._idf is None else tensors | {"idf": self._idf}

    @classmethod
    def load(cls, folder: Folder) -> Tfidf:
        """What `save` wrote. The arrays are mapped, and the table of terms is made by the first `transform`."""
        path = folder.path / "tfidf.json"
        facts, tensors = folder.read_json("tfidf.json"), folder.read_tensors("tfidf.safetensors")
        if not isinstance(facts, dict) or facts.get("format") != _FORMAT:
            raise StoreError(f"not a tf-idf of format {_FORMAT}; train again with this version of treetop", path=path)
        try:
            return cls._restored(from_dict(TfidfConfig, facts["config"]), facts["width"], tensors)
        except (ConfigError, DataError, KeyError, TypeError) as error:
            raise StoreError(f"does not fit tfidf.safetensors ({error}); train again", path=path) from error

    @classmethod
    def _restored(cls, config: TfidfConfig, width: int, tensors: Mapping[str, NDArray[Any]]) -> Tfidf:
        tfidf = cls(config)
        tfidf._columns = tfidf._new_columns()
        for part in tfidf._columns:
            part.restore({name: tensors[f"{part.kind.name}.{name}"] for name in part.tensors()})
        tfidf._idf = tensors["idf"] if config.use_idf else None
        if tfidf.width != width or (tfidf._idf is not None and tfidf._idf.shape != (width,)):
            raise DataError(f"{width} columns are announced, and {tfidf.width} found")
        return tfidf

    def _fitted(self) -> list[Columns]:
        if not self._columns:
            raise NotFittedError("this Tfidf has not seen any texts; call fit(texts) first")
        return self._columns

    def _new_columns(self) -> list[Columns]:
        bits = self.config.hash_bits
        return [Vocabulary(kind) if bits is None else Hashed(kind, bits) for kind in _kinds(self.config)]

    def _rows(self, texts: Iterable[str], threads: int) -> Iterator[Rows]:
        columns, cores = self._fitted(), cores_of(threads)
        for chunk in chunks(texts):
            for counts in row_slices([part.count(chunk, cores) for part in columns]):
                yield self._weigh(counts)

    def _learn(self, texts: Iterable[str], threads: int, *, keep: bool) -> tuple[deque[list[Counts]] | None, list[Ids]]:
        """Counts of every chunk, if they are to be kept, and the final column of each provisional one.

        None for counts that take more than a share of the memory, of texts that can be read again.
        """
        columns, cores = self._new_columns(), cores_of(threads)
        kept: deque[list[Counts]] | None = deque() if keep else None
        again = isinstance(texts, Sequence)
        total, held = 0, 0
        for chunk in chunks(texts):
            counts = [part.learn(chunk, cores) for part in columns]
            total += len(chunk)
            held += sum(array.nbytes for part in counts for array in part)
            if again and too_large(held // 2):
                kept = None
            if kept is not None:
                kept.append(counts)
        moved = [part.settle(self._limits(total)) for part in columns]
        self._check_learned(total, columns)
        self._columns, self._idf = columns, self._inverse_frequency(total, columns)
        return kept, moved

    def _limits(self, texts: int) -> Limits:
        c = self.config
        return Limits(
            fewest_texts=c.min_df * texts if isinstance(c.min_df, float) else c.min_df,
            most_texts=c.max_df * texts if isinstance(c.max_df, float) else c.max_df,
            most_terms=c.max_features,
        )

    def _check_learned(self, texts: int, columns: Sequence[Columns]) -> None:
        if texts == 0:
            raise DataError("there are no texts to learn from; give at least one")
        if not any(part.width for part in columns):
            c = self.config
            raise DataError(
                f"no term of the {texts} texts is left; lower min_df (now {c.min_df}), raise max_df (now {c.max_df}), "
                "or choose a token_pattern and stop_words that let some words through"
            )

    def _inverse_frequency(self, texts: int, columns: Sequence[Columns]) -> Floats | None:
        if not self.config.use_idf:
            return None
        in_texts = np.concatenate([part.in_texts for part in columns]).astype(np.float64)
        if self.config.smooth_idf:
            return (np.log((1 + texts) / (1 + in_texts)) + 1).astype(np.float32)
        return (np.log(texts / np.maximum(in_texts, 1)) + 1).astype(np.float32)  # a hashed column may have no text

    def _weigh(self, parts: list[Counts]) -> Rows:
        start, columns, counts = parts[0] if len(parts) == 1 else self._side_by_side(parts)
        if self._idf is None and self.config.norm is None and not self.config.sublinear_tf:
            return start, columns, counts.astype(np.float32)
        values = counts.astype(np.float64)
        if self.config.sublinear_tf:
            values = np.log(values) + 1
        if self._idf is not None:
            values *= self._idf[columns]
        if self.config.norm is not None:
            scale_rows(values, start, self.config.norm)
        return start, columns, values.astype(np.float32)

    def _side_by_side(self, parts: list[Counts]) -> Counts:
        blocks = [
            sp.csr_array((counts, ids, start), shape=(len(start) - 1, part.width))
            for part, (start, ids, counts) in zip(self._columns, parts, strict=True)
        ]
        joined = sp.hstack(blocks, format="csr")
        return joined.indptr.astype(np.int64), joined.indices, joined.data

"""Texts, their labels and the label space: what every method learns from and is judged by.

A `Dataset` is a `Corpus` (texts, and features if the benchmark ships them), a sparse matrix of true labels
(texts × labels; 1.0 or a relevance) and a `LabelSpace` that gives each column its name. Rows without labels are kept:
they are negative examples for training and count in the mean of some metrics.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from treetop.data.digests import digests, feature_digests
from treetop.data.tally import Tally
from treetop.errors import DataError
from treetop.sparse import canonical
from treetop.tagging import Labels, name_rows, named, nearest, shown
from treetop.types import CSR, Ids

if TYPE_CHECKING:
    from treetop.data.findings import Findings

__all__ = ["Corpus", "Dataset", "LabelRows", "LabelSpace"]


_LARGEST_WEIGHT = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class LabelSpace:
    """The names of the labels, in column order, and optionally a text for each (a title, a description)."""

    names: Sequence[str]
    texts: Sequence[str] | None = None
    index: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = tuple(self.names)
        index = {name: column for column, name in enumerate(names)}
        if len(index) != len(names):
            twice = next(name for column, name in enumerate(names) if index[name] != column)
            raise DataError(f"the label name {twice!r} occurs twice; give each label one name")
        if self.texts is not None and len(self.texts) != len(names):
            raise DataError(f"{len(self.texts)} label texts for {len(names)} labels; give one text per label")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "texts", None if self.texts is None else tuple(self.texts))
        object.__setattr__(self, "index", index)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"LabelSpace({len(self):,} labels{'' if self.texts is None else ' with texts'})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelSpace) and (self.names, self.texts) == (other.names, other.texts)

    __hash__ = None  # type: ignore[assignment]

    def encode(self, rows: Iterable[Sequence[str]], weights: Iterable[Sequence[float]] | None = None) -> CSR:
        """Rows of label names as a matrix (texts × labels); a name that is not in the space is an error."""
        gathered = LabelRows(self)
        for names, row in _zip_weights(rows, weights):
            gathered.add(names, row)
        if unseen := gathered.unseen:
            raise DataError(
                f"label {unseen[0]!r} is not in the label space of {len(self):,} labels; "
                "fix the name, or widen the space with space.extended([...])"
            )
        return gathered.finish()[0]

    def numbers(self, names: Any) -> Ids:
        """The numbers of some labels, in rising order, by their names, or by texts that no two labels have."""
        return np.unique([self._number(name) for name in named(names)]).astype(np.int32)

    def _number(self, name: str) -> int:
        if name in self.index:
            return self.index[name]
        texts = self.texts or ()
        called = [self.names[number] for number, text in enumerate(texts) if text == name]
        if len(called) == 1:
            return self.index[called[0]]
        if called:
            raise DataError(
                f"{len(called)} labels have the text {name!r}: {', '.join(called[:5])}; give the name of one"
            )
        raise DataError(
            f"there is no label {name!r} among the {len(self):,} labels; {nearest(name, (*self.names, *texts))}"
            "give names as in the training data"
        )

    def extended(self, extra: Iterable[str], texts: Mapping[str, str] | None = None) -> LabelSpace:
        """The space with the names of `extra` that it lacks behind its own, in the given order; ids do not change."""
        new = [name for name in dict.fromkeys(extra) if name not in self.index]
        if not new:
            return self
        known = None if self.texts is None else [*self.texts, *((texts or {}).get(name, name) for name in new)]
        return LabelSpace([*self.names, *new], known)

    def with_texts(self, texts: Mapping[str, str]) -> LabelSpace:
        """The same names with the given texts; a label that `texts` lacks is described by its own name."""
        return LabelSpace(self.names, [texts.get(name, name) for name in self.names])


@dataclass(frozen=True, eq=False)
class Corpus:
    """Texts, and the features a benchmark ships for them, if any; `texts` is empty if there are only features."""

    texts: Sequence[str]
    features: CSR | None = None
    origin: str = ""
    """The file of a benchmark that the features come from."""

    def __post_init__(self) -> None:
        if isinstance(self.texts, str):
            raise DataError("texts is one string; give a list of texts")
        if self.features is not None and len(self.texts) and len(self.texts) != self.features.shape[0]:
            raise DataError(
                f"{len(self.texts)} texts but {self.features.shape[0]} rows of features; give one row per text"
            )

    def __repr__(self) -> str:
        return f"Corpus({len(self):,} texts{'' if self.features is None else f', {self.features.shape[1]:,} features'})"

    def __len__(self) -> int:
        return len(self.texts) if self.features is None else int(self.features.shape[0])

    @cached_property
    def digests(self) -> NDArray[np.uint64]:
        """Eight bytes per row that stand for its text, or for its features if there are no texts."""
        return digests(self.texts) if len(self.texts) or self.features is None else feature_digests(self.features)

    def take(self, rows: ArrayLike) -> Corpus:
        """The given rows (ids, or a boolean mask), in that order."""
        chosen = _row_ids(rows, len(self))
        texts = [self.texts[row] for row in chosen] if len(self.texts) else []
        return replace(self, texts=texts, features=None if self.features is None else canonical(self.features[chosen]))


@dataclass(frozen=True, eq=False)
class Dataset:
    """A corpus with its true labels: `labels` is texts × labels, 1.0 or a relevance per true label."""

    corpus: Corpus
    labels: CSR
    space: LabelSpace
    tally: Tally = field(default_factory=Tally, repr=False)
    """What was counted while the data was read."""
    filtered: CSR | None = field(default=None, repr=False)
    """Pairs of text and label, an entry each, that a benchmark leaves out when it is evaluated: neither right nor
    wrong, because the text is that of the label itself."""

    def __post_init__(self) -> None:
        expected = (len(self.corpus), len(self.space))
        if self.labels.shape != expected:
            raise DataError(f"the label matrix is {self.labels.shape}, expected (texts, labels) = {expected}")

    @classmethod
    def build(
        cls,
        texts: Sequence[str],
        labels: Labels,
        *,
        weights: Iterable[Sequence[float]] | None = None,
        space: LabelSpace | None = None,
    ) -> Dataset:
        """A dataset from Python lists: one text and one list of label names per row.

        Without `space` the label space is the sorted set of the names; with it, unseen names come behind its own.
        """
        gathered = LabelRows(space)
        for names, row in _zip_weights(name_rows(labels) if weights is None else labels, weights):
            gathered.add(names, row)
        if len(gathered) != len(texts):
            raise DataError(f"{len(texts)} texts but {len(gathered)} rows of labels; give one row of labels per text")
        matrix, space = gathered.finish()
        return cls(Corpus(texts), matrix, space)

    def __len__(self) -> int:
        return len(self.corpus)

    def __repr__(self) -> str:
        return f"Dataset({len(self):,} texts, {len(self.space):,} labels, {self.labels.nnz:,} true)"

    @cached_property
    def findings(self) -> Findings:
        """What can be said about the data at a glance, and what looks odd; found when first asked for."""
        from treetop.data.findings import survey

        return survey(self)

    @property
    def frequency(self) -> NDArray[np.int64]:
        """Number of texts per label."""
        return np.bincount(self.labels.indices, minlength=len(self.space)).astype(np.int64)

    @property
    def most_filtered(self) -> int:
        """Labels that may have to leave the list of one text, at most."""
        return 0 if self.filtered is None else int(np.diff(self.filtered.indptr).max(initial=0))

    @property
    def unlabelled(self) -> int:
        """Number of texts without any label."""
        return int(np.count_nonzero(np.diff(self.labels.indptr) == 0))

    def with_own_labels(self) -> Dataset:
        """The same texts, and of the labels only those that a text has."""
        used = np.flatnonzero(self.frequency)
        names = [self.space.names[label] for label in used.tolist()]
        texts = None if self.space.texts is None else [self.space.texts[label] for label in used.tolist()]
        filtered = None if self.filtered is None else canonical(self.filtered[:, used])
        return Dataset(self.corpus, canonical(self.labels[:, used]), LabelSpace(names, texts), filtered=filtered)

    def take(self, rows: ArrayLike) -> Dataset:
        """The given rows (ids, or a boolean mask), in that order; the label space stays whole."""
        chosen = _row_ids(rows, len(self))
        filtered = None if self.filtered is None else canonical(self.filtered[chosen])
        return Dataset(self.corpus.take(chosen), canonical(self.labels[chosen]), self.space, filtered=filtered)


class LabelRows:
    """Rows of labels gathered one text at a time, in 4 bytes per label; `finish` gives the matrix and the space.

    Without a given space, columns are the sorted names, so the order of the texts does not matter. With one, names
    it lacks get columns behind its own (sorted): true in the metrics, predicted by no model.
    """

    def __init__(self, space: LabelSpace | None = None) -> None:
        self.space = space
        self._index: dict[str, int] = {} if space is None else dict(space.index)
        self._known = len(self._index)
        self._columns = array("i")
        self._ends = array("q", [0])
        self._weights: array[float] | None = None

    def __len__(self) -> int:
        return len(self._ends) - 1

    @property
    def count(self) -> int:
        """Labels gathered so far, over all rows."""
        return len(self._columns)

    @property
    def unseen(self) -> list[str]:
        """Names outside the given space, in order of appearance."""
        return list(self._index)[self._known :]

    def add(self, names: Iterable[str], weights: Sequence[float] | None = None) -> None:
        """One row. A label that is named twice counts once, with its larger weight; an empty name is no label."""
        if isinstance(names, str):
            raise DataError(f"the labels of a row are one string ({names[:40]!r}); give a list of names")
        if weights is not None:
            self._add_weighted(list(names), weights)
            return
        index, known = self._index, len(self._index)
        try:
            columns = [index.setdefault(name, len(index)) for name in dict.fromkeys(names) if name]
        except TypeError:
            raise DataError(f"the labels {shown(names)} are not a list of names") from None
        if len(index) > known:
            self._check_new(known)
        self._columns.extend(columns)
        self._ends.append(len(self._columns))
        if self._weights is not None:
            self._weights.extend([1.0] * len(columns))

    def _check_new(self, known: int) -> None:
        """Only names that are new need a look at what they are."""
        for name in islice(reversed(self._index), len(self._index) - known):
            if not isinstance(name, str):
                raise DataError(f"the label {shown(name)} is not a string; give label names")

    def _add_weighted(self, names: list[str], weights: Sequence[float]) -> None:
        if len(names) != len(weights):
            raise DataError(f"{len(names)} labels but {len(weights)} weights; give one weight per label")
        if self._weights is None:
            self._weights = array("f", [1.0] * len(self._columns))
        best: dict[str, float] = {}
        for name, weight in zip(names, weights, strict=True):
            if not 0.0 <= weight <= _LARGEST_WEIGHT:  # also false for NaN
                raise DataError(
                    f"the weight of label {name!r} is {weight}; weights are finite in 32 bits and not negative"
                )
            best[name] = max(weight, best.get(name, 0.0))
        kept = {name: weight for name, weight in best.items() if name and weight > 0.0}
        known = len(self._index)
        self._columns.extend([self._index.setdefault(name, len(self._index)) for name in kept])
        self._check_new(known)
        self._weights.extend(kept.values())
        self._ends.append(len(self._columns))

    def finish(self) -> tuple[CSR, LabelSpace]:
        """The matrix (texts × labels) and the space its columns live in."""
        space, column_of = self._sorted_space()
        columns = column_of[np.frombuffer(self._columns, dtype=np.int32)]
        values = np.ones(len(columns), np.float32)
        if self._weights is not None:
            values = np.frombuffer(self._weights, dtype=np.float32).copy()
        ends = np.frombuffer(self._ends, dtype=np.int64)
        if len(columns) < np.iinfo(np.int32).max:
            ends = ends.astype(np.int32)
        matrix = csr_array((values, columns, ends), shape=(len(self), len(space)))
        matrix.sort_indices()
        return matrix, space

    def _sorted_space(self) -> tuple[LabelSpace, Ids]:
        """The final space, and for each column handed out so far its place in that space."""
        new = self.unseen
        order = sorted(range(len(new)), key=new.__getitem__)
        column_of = np.arange(len(self._index), dtype=np.int32)
        column_of[self._known + np.array(order, dtype=np.int64)] = self._known + np.arange(len(new), dtype=np.int32)
        names = [new[place] for place in order]
        return (LabelSpace(names) if self.space is None else self.space.extended(names)), column_of


def _zip_weights(
    rows: Iterable[Sequence[str]], weights: Iterable[Sequence[float]] | None
) -> Iterable[tuple[Sequence[str], Sequence[float] | None]]:
    if weights is None:
        return ((row, None) for row in rows)
    rows, weights = list(rows), list(weights)
    if len(rows) != len(weights):
        raise DataError(f"{len(rows)} rows of labels but {len(weights)} rows of weights; give one per text")
    return zip(rows, weights, strict=True)


def _row_ids(rows: ArrayLike, count: int) -> NDArray[np.int64]:
    chosen = np.asarray(rows)
    if chosen.dtype == np.bool_:
        if chosen.shape != (count,):
            raise DataError(f"a row mask of length {len(chosen)} for {count} rows")
        return np.flatnonzero(chosen)
    return chosen.astype(np.int64).reshape(-1)

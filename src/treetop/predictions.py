"""Ranked labels with scores, and the fusion of several such rankings into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

from treetop.config import check_whole
from treetop.errors import ConfigError, DataError
from treetop.sparse import from_parts, row_numbers, top_k
from treetop.types import CSR, Floats, Ids

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FUSERS", "Ask", "Kind", "Predictions", "Suggestion", "check_k", "fuse"]

Doubles: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["margin", "score", "probability", "rank"]
"""What scores are: any number, 0 to 1 but not calibrated, 0 to 1 and calibrated, or made from places in lists."""

_SHOWN_TEXTS, _SHOWN_LABELS = 10, 5  # of a table in a notebook


class Ask(NamedTuple):
    """What is asked of a model, in the numbers of its labels."""

    k: int
    """Labels per text, at most."""
    beam: int | None = None
    """Nodes kept after each level of a search; None: as the model is configured."""
    allowed: Ids | None = None
    """The labels to choose from, in rising order; None: all."""

    def wider(self, k: int, labels: int) -> Ask:
        """The same for at least k of all `labels`, as far as there are that many to choose from."""
        return self._replace(k=min(max(self.k, k), labels if self.allowed is None else len(self.allowed)))


class Suggestion(NamedTuple):
    """One label suggested for a text."""

    label: str
    score: float

    @property
    def unseen(self) -> bool:
        """Whether no training text had the label, so that nothing but its name speaks for it."""
        return False


class UnseenSuggestion(Suggestion):
    """A label that no training text had: nothing but its name speaks for it."""

    __slots__ = ()

    @property
    def unseen(self) -> bool:
        """It is."""
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Predictions:
    """The best labels of each text, best first.

    `predictions[0]` is the list of suggestions for the first text, with label names; `predictions[:10]` are the
    predictions of the first ten texts.
    """

    labels: Ids
    """Label numbers, texts × k; -1 where a text has fewer than k."""
    scores: Floats
    """Their scores, never increasing along a row; 0 beside -1."""
    names: Sequence[str] | None = None
    """The name of each label number."""
    kind: Kind = "score"
    """What the scores are."""
    unseen: NDArray[np.bool_] | None = None
    """Which label numbers had no training text; None if names are not looked for, and such labels not found."""

    def __post_init__(self) -> None:
        if self.labels.shape != self.scores.shape or self.labels.ndim != 2:
            raise DataError(f"labels {self.labels.shape} and scores {self.scores.shape} must be two equal matrices")

    @classmethod
    def from_csr(cls, scores: CSR, k: int, names: Sequence[str] | None = None, kind: Kind = "score") -> Predictions:
        """The k best entries of each row; ties go to the lower label."""
        check_k(k)
        best = top_k(scores, k)
        rows = row_numbers(best)
        order = np.lexsort((best.indices, -best.data, rows))
        place = np.arange(len(order)) - best.indptr[rows]
        labels = np.full((scores.shape[0], k), -1, np.int32)
        values = np.zeros((scores.shape[0], k), np.float32)
        labels[rows, place] = best.indices[order]
        values[rows, place] = best.data[order]
        return cls(labels, values, names, kind)

    @property
    def k(self) -> int:
        """Labels per text, at most."""
        return int(self.labels.shape[1])

    def __len__(self) -> int:
        return int(self.labels.shape[0])

    @overload
    def __getitem__(self, text: int) -> list[Suggestion]: ...
    @overload
    def __getitem__(self, text: slice) -> Predictions: ...
    def __getitem__(self, text: int | slice) -> list[Suggestion] | Predictions:
        if isinstance(text, slice):
            return self.rows(text)
        pairs = zip(self.labels[text].tolist(), self.scores[text].tolist(), strict=True)
        name, kind = self._name_of, self._suggestion
        return [kind(label)(name(label), score) for label, score in pairs if label >= 0]

    def __iter__(self) -> Iterator[list[Suggestion]]:
        return (self[text] for text in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """The same labels with the same scores, names and kind."""
        if not isinstance(other, Predictions):
            return NotImplemented
        return (
            self.kind == other.kind
            and np.array_equal(self.labels, other.labels)
            and np.array_equal(self.scores, other.scores)
            and np.array_equal(self.are_unseen, other.are_unseen)
            and (self.names is other.names or list(self.names or ()) == list(other.names or ()))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        first = ", ".join(f"{label} {score:.3g}" for label, score in self[0][:3]) if len(self) else ""
        return f"Predictions({len(self):,} texts, k={self.k}, kind={self.kind!r}{first and f', first: {first}, …'})"

    def _repr_html_(self) -> str:
        """The first texts as a table, for notebooks."""
        head = "".join(f"<th>{place}</th>" for place in range(1, min(self.k, _SHOWN_LABELS) + 1))
        rows = "".join(
            f"<tr><th>{text}</th>"
            + "".join(f"<td>{escape(label)} <small>{score:.3g}</small></td>" for label, score in found[:_SHOWN_LABELS])
            + "</tr>"
            for text, found in enumerate(self[:_SHOWN_TEXTS])
        )
        caption = f"{len(self):,} texts, k={self.k}, {self.kind}"
        return f"<table><caption>{caption}</caption><tr><th>text</th>{head}</tr>{rows}</table>"

    def top(self, k: int) -> Predictions:
        """Only the k best of each text."""
        check_k(k)
        return replace(self, labels=self.labels[:, :k], scores=self.scores[:, :k])

    def rows(self, index: Ids | slice) -> Predictions:
        """Only some texts."""
        return replace(self, labels=self.labels[index], scores=self.scores[index])

    def at_least(self, threshold: float | Floats) -> Predictions:
        """Only labels whose score is at or above a threshold: one for all, or an array with one for each label."""
        if np.isnan(threshold).any():
            raise ConfigError("threshold is NaN; give a number")
        limit = threshold if np.ndim(threshold) == 0 else np.asarray(threshold)[self.labels]
        passed = (self.scores >= limit) & (self.labels >= 0)
        labels, scores = np.where(passed, self.labels, np.int32(-1)), np.where(passed, self.scores, np.float32(0))
        return replace(self, labels=labels, scores=scores)

    def without(self, pairs: CSR) -> Predictions:
        """Without the labels that a text has an entry for in `pairs` (texts × labels); later ones move up."""
        keys = row_numbers(pairs) * pairs.shape[1] + pairs.indices
        own = np.arange(len(self))[:, None] * pairs.shape[1] + self.labels
        kept = (self.labels >= 0) & ~((self.labels < pairs.shape[1]) & np.isin(own, keys))
        order = np.argsort(~kept, axis=1, kind="stable")
        labels, scores = np.where(kept, self.labels, np.int32(-1)), np.where(kept, self.scores, np.float32(0))
        return replace(self, labels=np.take_along_axis(labels, order, 1), scores=np.take_along_axis(scores, order, 1))

    def to_csr(self, width: int) -> CSR:
        """Texts × labels with a stored entry for every label that was predicted."""
        if self.labels.max(initial=-1) >= width:
            raise DataError(f"label {self.labels.max()} does not fit into {width} columns; ask for a wider matrix")
        order = np.argsort(self.labels, axis=1)  # row by row: several times as quick as all entries at once
        labels, scores = np.take_along_axis(self.labels, order, 1), np.take_along_axis(self.scores, order, 1)
        found = labels >= 0
        indptr = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        return from_parts(indptr, labels[found], scores[found], columns=width)

    @property
    def are_unseen(self) -> NDArray[np.bool_]:
        """Which suggestions are of labels that no training text had, texts × k."""
        if self.unseen is None:
            return np.zeros(self.labels.shape, bool)
        return (self.labels >= 0) & self.unseen[self.labels]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per suggestion: the number of the text from 0, the rank from 1, label and score.

        With label names, also whether the label is one that no training text had, `unseen`.
        """
        return [
            {"text": text, "rank": rank, "label": one.label, "score": one.score}
            | ({} if self.unseen is None else {"unseen": one.unseen})
            for text, found in enumerate(self)
            for rank, one in enumerate(found, 1)
        ]

    def to_frame(self) -> pl.DataFrame:
        """The same as a polars table: columns text, rank, label, score, and with label names unseen."""
        import polars as pl

        texts, places = np.nonzero(self.labels >= 0)
        labels = list(map(self._name_of, self.labels[texts, places].tolist()))
        columns: dict[str, Any] = {"text": texts.astype(np.int64), "rank": places.astype(np.int64) + 1}
        columns |= {"label": pl.Series(labels, dtype=pl.String), "score": self.scores[texts, places]}
        return pl.DataFrame(columns | ({} if self.unseen is None else {"unseen": self.are_unseen[texts, places]}))

    def _suggestion(self, label: int) -> type[Suggestion]:
        return Suggestion if self.unseen is None or not self.unseen[label] else UnseenSuggestion

    @property
    def _name_of(self) -> Callable[[int], str]:
        return str if self.names is None else self.names.__getitem__


def check_k(k: int) -> None:
    """Refuse to return fewer than one label."""
    check_whole("k", k)
    if k < 1:
        raise ConfigError(f"k is {k}; ask for at least one label")


def fuse(
    several: Sequence[Predictions],
    how: str = "average",
    *,
    weights: Sequence[float] | None = None,
    k: int | None = None,
) -> Predictions:
    """One ranking from several for the same texts; k labels per text, or as many as the longest list has.

    Each fuser but the last gives a label the weighted mean of a value per list, zero where a list lacks the label:

    - `average`: its score; a label that a list of margins lacks has its lowest there, as it can be no better
    - `rank_average`: k for the first label, k - 1 for the second, and so on, with the k of the longest list
    - `sigmoid_average`: 1 / (1 + exp(-score))
    - `softmax_average`: exp(score) divided by the sum of it over the list
    - `round_robin`: no mean; first choices of all lists in turn, then second choices, a label keeps its best place

    Lists cut short are biased against labels missing from one of them: predict k of 20 or more before fusing.
    """
    shares = _shares(several, how, weights)
    depth = max(one.k for one in several)
    lists = [np.nonzero(one.labels >= 0) for one in several]
    texts = np.concatenate([rows for rows, _ in lists])
    labels = np.concatenate([one.labels[found] for one, found in zip(several, lists, strict=True)])
    reduce = cast(np.ufunc, np.add)
    if how == "round_robin":
        parts = [(depth - found[1]) * len(several) - place for place, found in enumerate(lists)]
        reduce = cast(np.ufunc, np.maximum)
    else:
        values = [_VALUES[how](one, depth) for one in several]
        floors = [_floor(one, how) for one in several]
        parts = [
            (value - floor)[at] * share for value, floor, at, share in zip(values, floors, lists, shares, strict=True)
        ]
        below = sum(floor[:, 0] * share for floor, share in zip(floors, shares, strict=True))
    scores = _gather(texts, labels, np.concatenate(parts), reduce, rows=len(several[0]))
    if how == "average":
        scores.data += np.repeat(below, np.diff(scores.indptr)).astype(np.float32)
    return Predictions.from_csr(scores, depth if k is None else k, several[0].names, _fused_kind(several, how))


def _fused_kind(several: Sequence[Predictions], how: str) -> Kind:
    """What fused scores are. A mean of several probabilities is none itself; one of unlike kinds is just a number."""
    if how in ("rank_average", "round_robin"):
        return "rank"
    kinds = {one.kind for one in several}
    if len(several) == 1 and how == "average":
        return several[0].kind
    if how != "average" or kinds <= {"score", "probability"}:
        return "score"
    return "rank" if kinds == {"rank"} else "margin"


def _shares(several: Sequence[Predictions], how: str, weights: Sequence[float] | None) -> Doubles:
    """The share of each list in the mean, after a look at all arguments."""
    if how not in FUSERS:
        raise ConfigError(f"there is no fuser '{how}'; choose one of {', '.join(FUSERS)}")
    if not several or len({len(one) for one in several}) != 1:
        raise DataError("fusion needs one or more predictions for the same texts")
    if weights is None:
        return np.full(len(several), 1 / len(several))
    if how == "round_robin":
        raise ConfigError("round_robin takes the lists in turn and knows no weights; leave them out")
    shares = np.asarray(weights, np.float64)
    if len(shares) != len(several) or not (np.isfinite(shares) & (shares >= 0)).all() or shares.sum() == 0:
        raise ConfigError(f"weights are {weights}; give one non-negative number per model, not all zero")
    return np.asarray(shares / shares.sum(), np.float64)


def _gather(texts: NDArray[np.int64], labels: Ids, values: Doubles, reduce: np.ufunc, *, rows: int) -> CSR:
    """Entries of the same text and label brought together; a sum of zero is still an entry."""
    width = int(labels.max(initial=0)) + 1
    order = np.lexsort((labels, texts))
    texts, labels = texts[order], labels[order]
    first = np.flatnonzero(np.diff(texts * width + labels, prepend=-1))
    summed = reduce.reduceat(values[order], first) if len(first) else values
    indptr = np.concatenate([[0], np.cumsum(np.bincount(texts[first], minlength=rows))])
    return from_parts(indptr, labels[first], summed.astype(np.float32), columns=width)


def _floor(one: Predictions, how: str) -> Doubles:
    """What a label is worth to a list that lacks it, texts × 1: nothing, or as a margin the lowest of the list."""
    if how != "average" or one.kind != "margin":
        return np.zeros((len(one), 1))
    lowest = np.where(one.labels >= 0, one.scores, np.inf).min(axis=1, initial=np.inf, keepdims=True)
    return np.where(np.isfinite(lowest), lowest, 0.0).astype(np.float64)


def _own_score(one: Predictions, _depth: int) -> Doubles:
    return one.scores.astype(np.float64)


def _rank_score(one: Predictions, depth: int) -> Doubles:
    return np.broadcast_to(depth - np.arange(one.k, dtype=np.float64), one.scores.shape)


def _sigmoid_score(one: Predictions, _depth: int) -> Doubles:
    from scipy.special import expit  # a tenth of a second that only such a fusion needs

    return np.asarray(expit(one.scores.astype(np.float64)))


def _softmax_score(one: Predictions, _depth: int) -> Doubles:
    scores = np.where(one.labels >= 0, one.scores.astype(np.float64), -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-1e30))
    return np.asarray(powers / np.maximum(powers.sum(axis=1, keepdims=True), 1e-300))


_VALUES: dict[str, Callable[[Predictions, int], Doubles]] = {
    "average": _own_score,
    "rank_average": _rank_score,
    "sigmoid_average": _sigmoid_score,
    "softmax_average": _softmax_score,
}
FUSERS = (*_VALUES, "round_robin")
"""The ways to fuse: means of scores, of ranks, of sigmoids, of softmaxes over the list; or the lists in turn."""

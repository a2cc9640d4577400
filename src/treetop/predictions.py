"""Ranked labels with scores, and the fusion of several such rankings into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from treetop.errors import ConfigError, DataError
from treetop.sparse import from_parts, row_numbers, top_k
from treetop.types import CSR, Floats, Ids

__all__ = ["FUSERS", "Predictions", "Suggestion", "fuse"]


Doubles: TypeAlias = NDArray[np.float64]


class Suggestion(NamedTuple):
    """One label suggested for a text."""

    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Predictions:
    """The best labels of each text, best first.

    `predictions[0]` is the list of suggestions for the first text, with label names.
    """

    labels: Ids
    """Label numbers, texts × k; -1 where a text has fewer than k."""
    scores: Floats
    """Their scores, never increasing along a row; 0 beside -1."""
    names: Sequence[str] | None = None
    """The name of each label number."""

    def __post_init__(self) -> None:
        if self.labels.shape != self.scores.shape or self.labels.ndim != 2:
            raise DataError(f"labels {self.labels.shape} and scores {self.scores.shape} must be two equal matrices")

    @classmethod
    def from_csr(cls, scores: CSR, k: int, names: Sequence[str] | None = None) -> Predictions:
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
        return cls(labels, values, names)

    @property
    def k(self) -> int:
        """Labels per text, at most."""
        return int(self.labels.shape[1])

    def __len__(self) -> int:
        return int(self.labels.shape[0])

    def __getitem__(self, text: int) -> list[Suggestion]:
        pairs = zip(self.labels[text].tolist(), self.scores[text].tolist(), strict=True)
        name = str if self.names is None else self.names.__getitem__
        return [Suggestion(name(label), score) for label, score in pairs if label >= 0]

    def __iter__(self) -> Iterator[list[Suggestion]]:
        return (self[text] for text in range(len(self)))

    def top(self, k: int) -> Predictions:
        """Only the k best of each text."""
        check_k(k)
        return Predictions(self.labels[:, :k], self.scores[:, :k], self.names)

    def rows(self, index: Ids | slice) -> Predictions:
        """Only some texts."""
        return Predictions(self.labels[index], self.scores[index], self.names)

    def to_csr(self, width: int) -> CSR:
        """Texts × labels with a stored entry for every label that was predicted."""
        if self.labels.max(initial=-1) >= width:
            raise DataError(f"label {self.labels.max()} does not fit into {width} columns; ask for a wider matrix")
        found = self.labels >= 0
        rows, _ = np.nonzero(found)
        columns, values = self.labels[found], self.scores[found]
        order = np.lexsort((columns, rows))
        indptr = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        return from_parts(indptr, columns[order], values[order], columns=width)


def check_k(k: int) -> None:
    """Refuse to return fewer than one label."""
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

    - `average`: its score
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
        parts = [_VALUES[how](one, depth)[at] * share for one, at, share in zip(several, lists, shares, strict=True)]
    scores = _gather(texts, labels, np.concatenate(parts), reduce, rows=len(several[0]))
    return Predictions.from_csr(scores, depth if k is None else k, several[0].names)


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


def _own_score(one: Predictions, _depth: int) -> Doubles:
    return one.scores.astype(np.float64)


def _rank_score(one: Predictions, depth: int) -> Doubles:
    return np.broadcast_to(depth - np.arange(one.k, dtype=np.float64), one.scores.shape)


def _sigmoid_score(one: Predictions, _depth: int) -> Doubles:
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

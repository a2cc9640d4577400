"""Metrics of a ranking that are sums over texts: P@k, R@k, RP@k, nDCG@k, PSP@k, PSnDCG@k and micro-F1@k.

Every one of them is *gain / ideal*. The gain of a text adds up over the hits among its k best labels,

    gain = Σ_{j<=k} hit_j · weight(label_j) · discount_j

and the ideal is what the gain is compared with:

    metric    weight  discount       ideal of a text                          over texts
    p@k       1       1              k                                        mean of ratios
    r@k       1       1              number of true labels                    mean of ratios
    rp@k      1       1              the gain of a perfect ranking            mean of ratios
    ndcg@k    1       1 / log2(j+1)  the gain of a perfect ranking            mean of ratios
    psp@k     1 / p   1              the gain of a perfect ranking            ratio of sums
    psndcg@k  1 / p   1 / log2(j+1)  the gain of a perfect ranking            ratio of sums
    microf1@k 2       1              labels predicted + number of true ones   ratio of sums

A perfect ranking lists the true labels, the heaviest first. rp@k is R-Precision as in Chalkidis et al. (ACL 2019),
p is the propensity of Jain et al. (KDD 2016). A text without true labels gains nothing and counts like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.errors import DataError
from treetop.predictions import Predictions
from treetop.sparse import row_numbers
from treetop.types import CSR, Ids

__all__ = ["TEXT_METRICS", "Judged", "TextMetric", "Totals", "judge", "text_totals"]

Doubles = NDArray[np.float64]


class TextMetric(NamedTuple):
    """One row of the table at the top of this file."""

    ideal: Literal["k", "true", "perfect", "both"]
    weighted: bool = False
    discounted: bool = False
    pooled: bool = False
    """Whether gains and ideals are summed over texts before dividing."""


TEXT_METRICS = {
    "p": TextMetric("k"),
    "r": TextMetric("true"),
    "rp": TextMetric("perfect"),
    "ndcg": TextMetric("perfect", discounted=True),
    "psp": TextMetric("perfect", weighted=True, pooled=True),
    "psndcg": TextMetric("perfect", weighted=True, discounted=True, pooled=True),
    "microf1": TextMetric("both", pooled=True),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """Predictions beside the truth."""

    labels: Ids
    """Predicted label numbers, texts × k, best first, -1 = none."""
    hits: NDArray[np.bool_]
    """Which of them are true."""
    true: CSR
    """The true labels of each text: only entries above zero."""

    @property
    def true_counts(self) -> NDArray[np.int64]:
        """The number of true labels of each text."""
        return np.diff(self.true.indptr).astype(np.int64)

    def keep(self, mask: NDArray[np.bool_]) -> Judged:
        """The same with every prediction outside the mask taken back."""
        return Judged(np.where(mask, self.labels, np.int32(-1)), self.hits & mask, self.true)


class Totals(NamedTuple):
    """Gain and ideal of each text; the metric is the ratio of their sums."""

    gain: Doubles
    ideal: Doubles

    @property
    def value(self) -> float:
        """The metric, or 0 where nothing could be gained."""
        ideal = self.ideal.sum()
        return float(self.gain.sum() / ideal) if ideal > 0 else 0.0


def judge(predictions: Predictions, labels: CSR, k: int) -> Judged:
    """Which of the k best labels are true. Columns of `labels` that no model knows count as true labels too."""
    if len(predictions) != labels.shape[0]:
        raise DataError(
            f"predictions for {len(predictions)} texts cannot be judged by the labels of {labels.shape[0]} texts; "
            "give the labels of the texts that were predicted"
        )
    if not len(predictions):
        raise DataError("there are no texts to evaluate")
    best, true = predictions.labels[:, :k], _positive(labels)
    _refuse_repeats(best)
    width = max(true.shape[1], int(best.max(initial=0)) + 1)
    known = row_numbers(true) * width + true.indices
    asked = np.arange(len(best))[:, None] * width + best
    place = np.minimum(np.searchsorted(known, asked), max(len(known) - 1, 0))
    hits = (known[place] == asked) & (best >= 0) if len(known) else np.zeros(best.shape, bool)
    return Judged(best, hits, true)


def _positive(labels: CSR) -> CSR:
    """True labels have a relevance above zero: entries that are zero or less go, columns get sorted."""
    true: CSR = labels.copy()
    true.sum_duplicates()
    true.data = (true.data > 0).astype(np.float32)
    true.eliminate_zeros()
    return true


def _refuse_repeats(best: Ids) -> None:
    """A label listed twice would be found twice."""
    ordered = np.sort(best, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        text, place = np.argwhere(twice)[0]
        raise DataError(f"label {ordered[text, place]} is predicted twice for text {text}; keep its best place only")


def text_totals(metric: TextMetric, judged: Judged, k: int, weights: Doubles | None) -> Totals:
    """Gain and ideal of each text at k; `weights` are the labels' 1 / p, needed by weighted metrics only."""
    weights = weights if metric.weighted else None
    discounts = 1 / np.log2(np.arange(2, k + 2)) if metric.discounted else np.ones(k)
    ideal = _ideal(metric, judged, k, weights, discounts)
    gain = _gain(judged, k, weights, discounts) * (2 if metric.ideal == "both" else 1)
    return Totals(gain, ideal) if metric.pooled else Totals(gain / ideal, np.ones_like(ideal))


def _gain(judged: Judged, k: int, weights: Doubles | None, discounts: Doubles) -> Doubles:
    hits = judged.hits[:, :k]
    worth = hits if weights is None else np.where(hits, weights[np.where(hits, judged.labels[:, :k], 0)], 0)
    return np.asarray(worth @ discounts[: hits.shape[1]], np.float64)


def _ideal(metric: TextMetric, judged: Judged, k: int, weights: Doubles | None, discounts: Doubles) -> Doubles:
    counts = judged.true_counts
    if metric.ideal == "k":
        return np.full(len(counts), float(k))
    if metric.ideal == "true":
        return np.maximum(counts, 1).astype(np.float64)
    if metric.ideal == "both":
        return np.asarray((judged.labels[:, :k] >= 0).sum(axis=1) + counts, np.float64)
    if weights is not None:
        return np.asarray(_heaviest_first(judged.true, k, weights) @ discounts, np.float64)
    # A text without true labels gains nothing whatever its ideal, which only has to be above zero.
    reach = np.concatenate([discounts[:1], np.cumsum(discounts)])
    return np.asarray(reach[np.minimum(counts, k)], np.float64)


def _heaviest_first(true: CSR, k: int, weights: Doubles) -> Doubles:
    """Weights of each text's true labels in decreasing order, texts × k, zero where there are fewer."""
    rows, values = row_numbers(true), weights[true.indices]
    order = np.lexsort((-values, rows))
    place = np.arange(len(order)) - true.indptr[rows]
    kept = place < k
    best = np.zeros((true.shape[0], k))
    best[rows[kept], place[kept]] = values[order][kept]
    return best

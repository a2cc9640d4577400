"""Metrics that look at each label on its own: macro-F1 and coverage; and F1 at a score threshold.

With n true texts of a label, m texts it was predicted for and h of them right, its F1 is 2h / (n + m).

- *macro-F1* is the mean F1 of the labels that are true for at least one of the texts evaluated. Other labels have
  F1 = 0 whether predicted or not; counting them too, as scikit-learn does, only divides by a larger number.
- *coverage* is the share of the same labels that were found right at least once.
- *micro-F1* adds h, n and m up over labels first: 2 Σh / (Σn + Σm).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treetop.errors import ConfigError
from treetop.metrics.ranking import TEXT_METRICS, Judged, judge, text_totals
from treetop.metrics.truth import Truth, as_truth
from treetop.predictions import Predictions
from treetop.types import Floats

__all__ = [
    "LABEL_METRICS",
    "LabelCounts",
    "at_threshold",
    "best_threshold",
    "count_labels",
    "coverage",
    "f1",
    "macro_f1",
]


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Texts of each label."""

    true: NDArray[np.int64]
    """Texts the label is true for."""
    predicted: NDArray[np.int64]
    """Texts it was predicted for."""
    hit: NDArray[np.int64]
    """Texts it was rightly predicted for."""


def count_labels(judged: Judged, k: int) -> LabelCounts:
    """Texts per label, among the k best predictions of each text."""
    labels, hits = judged.labels[:, :k], judged.hits[:, :k]
    width = max(judged.true.shape[1], int(labels.max(initial=0)) + 1)
    return LabelCounts(
        true=np.bincount(judged.true.indices, minlength=width),
        predicted=np.bincount(labels[labels >= 0], minlength=width),
        hit=np.bincount(labels[hits], minlength=width),
    )


def macro_f1(counts: LabelCounts) -> float:
    """The mean F1 of the labels that occur."""
    occurs = counts.true > 0
    each = 2 * counts.hit[occurs] / (counts.true + counts.predicted)[occurs]
    return float(each.mean()) if len(each) else 0.0


def coverage(counts: LabelCounts) -> float:
    """The share of the labels that occur and were found at least once."""
    return float((counts.hit > 0).sum() / max((counts.true > 0).sum(), 1))


LABEL_METRICS = {"macrof1": macro_f1, "coverage": coverage}


def f1(predictions: Predictions, labels: Truth, *, threshold: float, average: str = "micro") -> float:
    """F1 of the labels whose score is at least `threshold`, averaged `micro` or `macro`.

    Only labels in the ranked lists can pass: predict a k above the number of labels expected.
    """
    if average not in ("micro", "macro"):
        raise ConfigError(f"average is '{average}'; choose micro or macro")
    judged = judge(predictions, as_truth(predictions, labels), predictions.k).keep(predictions.scores >= threshold)
    if average == "macro":
        return macro_f1(count_labels(judged, predictions.k))
    return text_totals(TEXT_METRICS["microf1"], judged, predictions.k, None).value


def at_threshold(predictions: Predictions, labels: Truth, threshold: float | Floats) -> dict[str, float]:
    """Of the labels whose score is at least `threshold`: precision, recall, both F1s, and how many a text has.

    It is one threshold for all, or an array with one for each label.

    Precision is Σh / Σm and recall Σh / Σn over all labels. Only labels in the ranked lists can pass.
    """
    k = predictions.k
    passed = predictions.at_least(threshold).labels >= 0
    judged = judge(predictions, as_truth(predictions, labels), k).keep(passed)
    hits, given = int(judged.hits.sum()), int((judged.labels >= 0).sum())
    return {
        "precision": hits / max(given, 1),
        "recall": hits / max(judged.true.nnz, 1),
        "microf1": text_totals(TEXT_METRICS["microf1"], judged, k, None).value,
        "macrof1": macro_f1(count_labels(judged, k)),
        "labels_per_text": given / len(judged.labels),
    }


def best_threshold(predictions: Predictions, labels: Truth) -> float:
    """The threshold with the highest micro-F1. Choose it on texts of their own, not on the test set."""
    judged = judge(predictions, as_truth(predictions, labels), predictions.k)
    given = judged.labels >= 0
    scores, hits = predictions.scores[given], judged.hits[given]
    if not hits.any():
        return float("inf")
    order = np.argsort(-scores, kind="stable")
    scores, found = scores[order], np.cumsum(hits[order])
    each = 2 * found / (judged.true.nnz + np.arange(1, len(found) + 1))
    last_of_ties = np.append(scores[1:] < scores[:-1], True)
    return float(scores[np.argmax(np.where(last_of_ties, each, -1))])

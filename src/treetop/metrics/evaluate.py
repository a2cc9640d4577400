"""Metrics by name: `evaluate(predictions, labels, ["p@1", "psp@5"])`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.errors import ConfigError, DataError
from treetop.metrics.labelwise import LABEL_METRICS, count_labels
from treetop.metrics.propensity import Propensity
from treetop.metrics.ranking import TEXT_METRICS, Doubles, Judged, judge, text_totals
from treetop.metrics.truth import Truth, as_truth, counted
from treetop.predictions import Predictions
from treetop.types import CSR

__all__ = [
    "DEFAULT",
    "PROPENSITY_SCORED",
    "Metric",
    "dev_score",
    "evaluate",
    "label_weights",
    "largest_k",
    "metric_value",
    "pad_frequency",
    "parse",
]

DEFAULT = ("p@1", "p@3", "p@5", "r@5", "r@10", "rp@5", "ndcg@3", "ndcg@5", "microf1@5", "macrof1@5", "coverage@5")
"""What `evaluate` reports unless told otherwise: all that needs nothing but predictions and true labels."""

PROPENSITY_SCORED = ("psp@1", "psp@3", "psp@5", "psndcg@3", "psndcg@5")
"""The usual metrics that need the labels' training frequencies as well."""

NAMES = (*TEXT_METRICS, *LABEL_METRICS)


class Metric(NamedTuple):
    """A metric's kind and its cut-off."""

    kind: str
    k: int

    @property
    def by_text(self) -> bool:
        """Whether it is a sum over texts (and not over labels)."""
        return self.kind in TEXT_METRICS

    @property
    def weighted(self) -> bool:
        """Whether it needs the propensities of the labels."""
        return self.by_text and TEXT_METRICS[self.kind].weighted


def parse(name: str) -> Metric:
    """`"psp@5"` → psp at 5."""
    kind, _, k = name.partition("@")
    if kind not in NAMES:
        near = get_close_matches(kind.lower(), NAMES, n=1)
        hint = f"did you mean '{near[0]}@{k or 5}'? " if near else ""
        raise ConfigError(f"there is no metric '{name}'; {hint}known are {', '.join(NAMES)}, each with @k as in p@5")
    if not re.fullmatch("[0-9]+", k) or int(k) < 1:
        raise ConfigError(f"metric '{name}' needs a whole number of at least 1 after @, as in {kind}@5")
    return Metric(kind, int(k))


def largest_k(metrics: Sequence[str]) -> int:
    """The number of labels to predict per text so that all these metrics see enough of them."""
    return max((parse(name).k for name in metrics), default=1)


def evaluate(
    predictions: Predictions,
    labels: Truth,
    metrics: Sequence[str] | str = DEFAULT,
    *,
    label_names: Any = None,
    frequency: NDArray[Any] | None = None,
    propensity: Propensity | None = None,
) -> dict[str, float]:
    """The metrics asked for, as fractions from 0 to 1, in the order asked for.

    `labels` are the true labels of the same texts: lists of names, a dataset, or a matrix in which an entry is true if
    above zero. The columns of a matrix are those of the predictions, or those called `label_names`. Labels that the
    model does not know count as true. `frequency` (training texts per label) and `propensity` are needed by psp and
    psndcg only. A list shorter than k counts as if filled with wrong labels. Pairs that a dataset leaves out
    (`Dataset.filtered`) are dropped from the lists first.
    """
    if not isinstance(predictions, Predictions):
        given = type(predictions).__name__
        raise DataError(f"evaluate takes what model.predict(texts) gives, and then the true labels; this is a {given}")
    metrics = (metrics,) if isinstance(metrics, str) else metrics
    predictions, labels = counted(predictions, labels), as_truth(predictions, labels, label_names)
    asked = {name: parse(name) for name in metrics}
    weights = label_weights(asked, labels, frequency, propensity)
    judged = judge(predictions, labels, largest_k(metrics))
    return {name: metric_value(metric, judged, weights) for name, metric in asked.items()}


def dev_score(predictions: Predictions, labels: Truth) -> float:
    """What choices are made by, on texts that were held out: the mean of P@1, P@3 and P@5."""
    return sum(evaluate(predictions, labels, ("p@1", "p@3", "p@5")).values()) / 3


def metric_value(metric: Metric, judged: Judged, weights: Doubles | None) -> float:
    """One metric of judged predictions."""
    if metric.by_text:
        return text_totals(TEXT_METRICS[metric.kind], judged, metric.k, weights).value
    return LABEL_METRICS[metric.kind](count_labels(judged, metric.k))


def label_weights(
    asked: dict[str, Metric], labels: CSR, frequency: NDArray[Any] | None, propensity: Propensity | None
) -> Doubles | None:
    """1 / p of every column of `labels`; columns beyond `frequency` were never seen in training."""
    name = next((name for name, metric in asked.items() if metric.weighted), None)
    if name is None:
        return None
    if frequency is None or propensity is None:
        raise ConfigError(f"{name} needs frequency= (training texts per label) and propensity=; or leave {name} out")
    return propensity.inverse(pad_frequency(frequency, labels.shape[1]))


def pad_frequency(frequency: NDArray[Any], columns: int) -> NDArray[Any]:
    """Training texts per label for at least so many columns: 0 for labels never seen in training."""
    if frequency.ndim != 1 or (frequency < 0).any():
        raise DataError(f"frequency of shape {frequency.shape} must be one count >= 0 per label")
    return np.pad(frequency, (0, max(columns - len(frequency), 0)))

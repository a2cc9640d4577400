"""How sure a metric is, and how sure it is that one system is better than another on the same texts.

A metric that is a sum over texts moves by d_i when text i does: for a mean, d_i is the text's value minus the mean; for
a ratio of sums (psp, psndcg, microf1, share of a band) it is linearised, d_i = (gain_i - ratio · ideal_i) / mean ideal.
The standard error over n texts is sqrt(Σ d_i² / (n (n - 1))). For a difference of two systems d_i is the difference of
their d_i: what makes a text hard for both cancels out, so the error of a difference is smaller than that of its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import erfc, inf, isnan, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.errors import ConfigError
from treetop.metrics.breakdown import BANDS, band_of
from treetop.metrics.evaluate import label_weights, largest_k, pad_frequency, parse
from treetop.metrics.propensity import Propensity
from treetop.metrics.ranking import TEXT_METRICS, Doubles, Totals, judge, text_totals
from treetop.metrics.truth import Truth, as_truth
from treetop.predictions import Predictions

__all__ = ["Difference", "Spread", "holm", "paired_difference", "spread", "spread_of_bands"]


class Difference(NamedTuple):
    """How much better the first of two systems is, and how sure that is."""

    value: float
    """Metric of the first minus metric of the second."""
    standard_error: float
    """Of that difference, over texts; differences below about two of these are noise."""

    @property
    def p_value(self) -> float:
        """How likely a difference of at least this size is by chance, if there is none: 2 (1 - Φ(|value| / error))."""
        if not self.value or isnan(self.standard_error):
            return 1.0
        return erfc(abs(self.value) / (self.standard_error or 1e-300) / sqrt(2))


class Spread(NamedTuple):
    """A metric and how far each text moves it."""

    value: float
    each: Doubles
    """Per text, times the number of texts; sums to zero."""

    @property
    def standard_error(self) -> float:
        """Of the metric, over texts; NaN for a single text."""
        return _standard_error(self.each)

    def minus(self, other: Spread) -> Difference:
        """The difference to another system on the same texts, with its paired standard error."""
        return Difference(self.value - other.value, _standard_error(self.each - other.each))


def spread(
    predictions: Predictions,
    labels: Truth,
    metrics: Sequence[str],
    *,
    frequency: NDArray[Any] | None = None,
    propensity: Propensity | None = None,
) -> dict[str, Spread]:
    """Each of the metrics, which must be sums over texts, with what every text does to it."""
    labels = as_truth(predictions, labels)
    asked = {name: parse(name) for name in metrics}
    alien = next((name for name, metric in asked.items() if not metric.by_text), None)
    if alien is not None:
        raise ConfigError(f"{alien} is not a sum over texts; paired differences exist for {', '.join(TEXT_METRICS)}")
    weights = label_weights(asked, labels, frequency, propensity)
    judged = judge(predictions, labels, largest_k(metrics))
    return {
        name: _spread(text_totals(TEXT_METRICS[metric.kind], judged, metric.k, weights))
        for name, metric in asked.items()
    }


def spread_of_bands(
    predictions: Predictions,
    labels: Truth,
    k: int,
    *,
    frequency: NDArray[Any],
    bands: Mapping[str, float] = BANDS,
) -> dict[str, Spread]:
    """Of each band of label frequency: the share of its true pairs that are among the k best of their texts."""
    labels = as_truth(predictions, labels)
    judged = judge(predictions, labels, k)
    width = max(labels.shape[1], int(judged.labels.max(initial=0)) + 1)
    number = band_of(pad_frequency(frequency, width), bands)
    texts = np.repeat(np.arange(len(judged.labels)), judged.true_counts)
    found = {}
    for place, name in enumerate(bands):
        hits = (judged.hits & (number[judged.labels] == place)).sum(axis=1).astype(np.float64)
        inside = texts[number[judged.true.indices] == place]
        found[name] = _spread(Totals(hits, np.bincount(inside, minlength=len(hits)).astype(np.float64)))
    return found


def paired_difference(
    a: Predictions,
    b: Predictions,
    labels: Truth,
    metric: str,
    *,
    frequency: NDArray[Any] | None = None,
    propensity: Propensity | None = None,
) -> Difference:
    """The difference of two systems on the same texts, with its paired standard error."""
    first, second = (
        spread(one, as_truth(a, labels), [metric], frequency=frequency, propensity=propensity)[metric] for one in (a, b)
    )
    return first.minus(second)


def holm(p_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Which of several differences are real: all of those named are so, with a chance of 1 - level.

    The smallest of m p-values must be below level / m, the next below level / (m - 1), and so on; the first that is
    not ends it (Holm, Scandinavian Journal of Statistics 1979). Who compares many pairs finds some by chance otherwise.
    """
    real, left = [False] * len(p_values), len(p_values)
    for place in sorted(range(len(p_values)), key=p_values.__getitem__):
        if not p_values[place] < level / left:
            break
        real[place], left = True, left - 1
    return real


def _spread(totals: Totals) -> Spread:
    """How far each text moves the ratio from its value."""
    scale = totals.ideal.mean()
    return Spread(totals.value, (totals.gain - totals.value * totals.ideal) / (scale if scale > 0 else inf))


def _standard_error(each: Doubles) -> float:
    return float(np.sqrt(np.square(each).sum() / (len(each) * (len(each) - 1)))) if len(each) > 1 else nan

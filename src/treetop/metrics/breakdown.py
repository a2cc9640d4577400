"""Where a metric comes from: common labels, rare ones, or those in between.

Labels fall into bands by their number of training texts. The contribution of a band to a metric is the metric with
only the hits on the band's labels counted and every denominator left as it was: so contributions add up to the metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.errors import ConfigError
from treetop.metrics.evaluate import label_weights, largest_k, metric_value, pad_frequency, parse
from treetop.metrics.propensity import Propensity
from treetop.metrics.ranking import judge
from treetop.metrics.truth import Truth, as_truth
from treetop.predictions import Predictions

__all__ = ["BANDS", "BAND_WORDS", "band_of", "bands_by_mass", "breakdown"]

BANDS: Mapping[str, float] = {"unseen": 0, "tail": 5, "torso": 100, "head": inf}
"""The largest number of training texts of a label in each band, from rare to common."""
BAND_WORDS: Mapping[str, str] = {
    "unseen": "unseen", "tail": "tail (1–5)", "torso": "torso (6–100)", "head": "head (over 100)"
}  # fmt: skip
"""What people read: each band with the training texts of its labels."""


def bands_by_mass(frequency: NDArray[Any]) -> dict[str, float]:
    """Cut points that give tail, torso and head about a third of all label occurrences in training each.

    Labels of one frequency stay together, so the thirds are not exact; small label sets may leave a band empty.
    """
    ordered = np.sort(frequency[frequency > 0])
    mass = np.cumsum(ordered)
    cuts = ordered[np.searchsorted(mass, mass[-1] * np.array([1, 2]) / 3)] if len(ordered) else np.zeros(2)
    return {"unseen": 0, "tail": float(cuts[0]), "torso": float(cuts[1]), "head": inf}


def breakdown(
    predictions: Predictions,
    labels: Truth,
    metrics: Sequence[str] = ("p@5",),
    *,
    frequency: NDArray[Any],
    propensity: Propensity | None = None,
    bands: Mapping[str, float] = BANDS,
) -> dict[str, dict[str, float]]:
    """For each band of labels, as fractions from 0 to 1:

    - `labels`: its share of the labels that are true for some text; adds up to 1 over bands
    - `pairs`: its share of all true (text, label) pairs; adds up to 1
    - each metric asked for: its contribution; adds up to the metric
    - `found@k` for each k asked for: the share of the band's own true pairs among the k best of their texts
    """
    labels = as_truth(predictions, labels)
    asked = {name: parse(name) for name in metrics}
    weights = label_weights(asked, labels, frequency, propensity)
    judged = judge(predictions, labels, largest_k(metrics))
    width = max(labels.shape[1], int(judged.labels.max(initial=0)) + 1)
    band = band_of(pad_frequency(frequency, width), bands)
    true_texts = np.bincount(judged.true.indices, minlength=len(band))
    report = {}
    for number, name in enumerate(bands):
        inside = band == number
        only = replace(judged, hits=judged.hits & inside[judged.labels])
        values = {metric: metric_value(parsed, only, weights) for metric, parsed in asked.items()}
        pairs = int(true_texts[inside].sum())
        cuts = sorted({parsed.k for parsed in asked.values()})
        found = {f"found@{k}": float(only.hits[:, :k].sum() / max(pairs, 1)) for k in cuts}
        occur = (true_texts[inside] > 0).sum() / max((true_texts > 0).sum(), 1)
        report[name] = {"labels": float(occur), "pairs": pairs / max(judged.true.nnz, 1), **values, **found}
    return report


def band_of(frequency: NDArray[Any], bands: Mapping[str, float]) -> NDArray[np.int64]:
    """The number of each label's band."""
    upper = list(bands.values())
    if upper != sorted(upper) or not upper or upper[-1] != inf:
        raise ConfigError(f"bands end at {upper}; give rising limits of training texts, the last one infinite")
    return np.searchsorted(upper, frequency)

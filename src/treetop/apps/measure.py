"""A model's figures on labelled texts, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop.data import Dataset
from treetop.errors import DataError
from treetop.methods import Method
from treetop.metrics import DEFAULT, PROPENSITY_SCORED, Propensity, breakdown, evaluate, largest_k
from treetop.presets.datasets import propensity_constants
from treetop.runtime import Meter

__all__ = ["Figures", "measure"]

_BANDS_BY = ("p@5", "psp@5")


@dataclass(frozen=True, slots=True)
class Figures:
    """Metrics of one model on one set of texts, as fractions."""

    texts: int
    unseen: int
    """True (text, label) pairs whose label was never seen in training; no model can find them."""
    seen: float | None
    """Share of the texts that the model was trained on; None if that is not known."""
    metrics: dict[str, float]
    bands: dict[str, dict[str, float]]
    """The same by how often a label was seen in training: contributions that add up to the metric."""
    propensity: Propensity
    seconds: float
    """Wall time of the prediction."""

    def flat(self) -> dict[str, Any]:
        """One table of names and numbers, as for JSON: `p@1`, `psp@5`, `head/found@5`, …"""
        bands = {f"{band}/{name}": value for band, values in self.bands.items() for name, value in values.items()}
        facts = {
            "texts": self.texts,
            "unseen_pairs": self.unseen,
            "seen_in_training": self.seen,
            "propensity_a": self.propensity.a,
            "propensity_b": self.propensity.b,
            "predict_seconds": round(self.seconds, 4),
        }
        return self.metrics | bands | facts


def measure(
    model: Method[Any], dataset: Dataset, metrics: Sequence[str] | None = None, benchmark: str | None = None
) -> Figures:
    """Predict the texts of a dataset and compare with their labels."""
    if not len(dataset):
        raise DataError("there are no texts to evaluate on")
    names = tuple(metrics or (*DEFAULT, *PROPENSITY_SCORED))
    a, b = propensity_constants(benchmark)
    propensity = Propensity(a=a, b=b, train_texts=model.training["texts"])
    with Meter() as meter:
        predictions = model.predict(dataset, largest_k((*names, *_BANDS_BY)))
    seen = np.append(model.frequency > 0, np.zeros(dataset.labels.shape[1] - len(model.space), bool))
    again = model.trained_on(dataset)
    return Figures(
        texts=len(dataset),
        seen=None if again is None else float(again.mean()),
        unseen=int(np.count_nonzero(~seen[dataset.labels.indices])),
        metrics=evaluate(predictions, dataset.labels, names, frequency=model.frequency, propensity=propensity),
        bands=breakdown(predictions, dataset.labels, _BANDS_BY, frequency=model.frequency, propensity=propensity),
        propensity=propensity,
        seconds=meter.wall_seconds,
    )

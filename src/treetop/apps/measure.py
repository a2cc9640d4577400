"""Figures of a model, or of predictions from anywhere, on labelled texts: for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.data import Dataset
from treetop.errors import ConfigError, DataError
from treetop.methods import Method
from treetop.methods.calibrating import cut_at
from treetop.metrics import (
    DEFAULT,
    PROPENSITY_SCORED,
    Propensity,
    Reliability,
    at_threshold,
    breakdown,
    brier_score,
    counted,
    evaluate,
    expected_calibration_error,
    largest_k,
    reliability,
)
from treetop.predictions import Kind, Predictions
from treetop.presets.datasets import known_by_size, propensity_constants
from treetop.runtime import Meter

__all__ = ["FEW_COPIES", "Calibrated", "Figures", "calibration_of", "figures_of", "measure"]

FEW_COPIES = 0.01
"""Share of texts that may be copies of training texts, as in real data, before figures say something else."""
_BANDS_BY = ("p@5", "psp@5")
_RARE = 10  # training texts, at most
_PASSING = 50  # labels per text that may pass a threshold


@dataclass(frozen=True, slots=True)
class Figures:
    """Metrics of one model on one set of texts, as fractions."""

    texts: int
    metrics: dict[str, float]
    seconds: float | None = None
    """Wall time of the prediction."""
    threshold: float | str | None = None
    """A score, or an aim such as `precision:0.9`."""
    cut: float | None = None
    """The score that the threshold stands for; None if it is another for each label."""
    passed: dict[str, float] = field(default_factory=dict)
    """Precision, recall and F1 of the labels that reach the threshold, and how many there are per text."""
    calibration: dict[str, float] = field(default_factory=dict)
    """Expected calibration error, that of rare labels, and Brier score; none if scores are not from 0 to 1."""
    diagram: Reliability | None = None
    """What was said beside what was true, in bins of scores."""
    kind: Kind = "score"
    """What the scores are."""
    unseen: int = 0
    """True (text, label) pairs whose label was never seen in training; only its name can find them."""
    unseen_found: float | None = None
    """The share of these pairs found among the ten best; None if the model does not look for names."""
    seen: float | None = None
    """Share of the texts that the model was trained on; None if that is not known."""
    bands: dict[str, dict[str, float]] = field(default_factory=dict)
    """The same by how often a label was seen in training: contributions that add up to the metric."""
    propensity: Propensity | None = None
    """What psp and psndcg were weighted with; None, as are bands, where the training texts are not known."""
    benchmark: str | None = None
    """The public dataset whose constants these are."""

    def flat(self) -> dict[str, Any]:
        """One table of names and numbers, as for JSON: `p@1`, `psp@5`, `head/found@5`, `threshold/recall`, …"""
        bands = {f"{band}/{name}": value for band, values in self.bands.items() for name, value in values.items()}
        passed = {f"threshold/{name}": value for name, value in self.passed.items()}
        facts: dict[str, Any] = {"texts": self.texts}
        if self.threshold is not None:
            facts |= {"threshold": self.cut, "threshold_aim": self.threshold}
        if self.diagram is not None:
            columns = zip(*(column.tolist() for column in self.diagram), strict=True)
            facts["reliability"] = [dict(zip(Reliability._fields, row, strict=True)) for row in columns]
        if self.propensity is not None:
            constants = {"propensity_a": self.propensity.a, "propensity_b": self.propensity.b}
            facts |= {"unseen_pairs": self.unseen, "seen_in_training": self.seen, **constants}
        if self.unseen_found is not None:
            facts["unseen_found@10"] = self.unseen_found
        if self.seconds is not None:
            facts["predict_seconds"] = round(self.seconds, 4)
        calibration = {f"calibration/{name}": value for name, value in self.calibration.items()}
        return self.metrics | bands | passed | calibration | facts

    def without_calibration(self) -> Figures:
        """The same for texts that the model was calibrated on, where that part would be no result."""
        return replace(self, calibration={}, diagram=None)


def measure(
    model: Method[Any],
    dataset: Dataset,
    metrics: Sequence[str] | None = None,
    benchmark: str | None = None,
    *,
    threshold: float | str | None = None,
) -> Figures:
    """Predict the texts of a dataset and compare with their labels."""
    if not len(dataset):
        raise DataError("there are no texts to evaluate on")
    k = largest_k((*(metrics or (*DEFAULT, *PROPENSITY_SCORED)), *_BANDS_BY))
    with Meter() as meter:
        predictions = model.predict(dataset, dataset.most_filtered + (k if threshold is None else max(k, _PASSING)))
    figures = figures_of(predictions, dataset, metrics, benchmark, model=model, threshold=threshold)
    return replace(figures, seconds=meter.wall_seconds)


def figures_of(
    predictions: Predictions,
    dataset: Dataset,
    metrics: Sequence[str] | None = None,
    benchmark: str | None = None,
    *,
    model: Method[Any] | None = None,
    threshold: float | str | None = None,
) -> Figures:
    """Compare predictions with the labels of a dataset; a model tells how often labels were seen in training.

    A benchmark that is not named may be known by its sizes.
    """
    predictions = counted(predictions, dataset)
    calibration = calibration_of(predictions, dataset, None if model is None else model.frequency)
    common = _decisions(predictions, dataset, model, threshold) | {
        "kind": predictions.kind,
        "calibration": calibration.figures,
        "diagram": calibration.diagram,
    }
    if model is None:
        if benchmark is not None:
            raise ConfigError(f"benchmark is '{benchmark}', but without a model the training texts are not known")
        found = evaluate(predictions, dataset, tuple(metrics or DEFAULT))
        return Figures(len(dataset), found, **common)
    benchmark = benchmark or known_by_size(model.training["texts"], len(model.space))
    a, b = propensity_constants(benchmark)
    propensity = Propensity(a=a, b=b, train_texts=model.training["texts"])
    weights: dict[str, Any] = {"frequency": model.frequency, "propensity": propensity}
    beyond = max(0, dataset.labels.shape[1] - len(model.space))
    seen = np.append(model.frequency > 0, np.zeros(beyond, bool))
    again = model.trained_on(dataset)
    return Figures(
        len(dataset),
        evaluate(predictions, dataset, tuple(metrics or (*DEFAULT, *PROPENSITY_SCORED)), **weights),
        **common,
        seen=None if again is None else float(again.mean()),
        unseen=int(np.count_nonzero(~seen[dataset.labels.indices])),
        unseen_found=_unseen_found(predictions, dataset, model.frequency) if model.suggests_unseen else None,
        bands=breakdown(predictions, dataset, _BANDS_BY, **weights),
        propensity=propensity,
        benchmark=benchmark,
    )


def _unseen_found(predictions: Predictions, dataset: Dataset, frequency: NDArray[np.int64]) -> float:
    """The share of true pairs with labels never seen in training that are found among the ten best."""
    return breakdown(predictions, dataset, ("p@10",), frequency=frequency)["unseen"]["found@10"]


def _decisions(
    predictions: Predictions, dataset: Dataset, model: Method[Any] | None, threshold: float | str | None
) -> dict[str, Any]:
    """What labels at or above a threshold are worth."""
    if threshold is None:
        return {}
    cut = cut_at(threshold, None if model is None else model.calibration, predictions.kind)
    passed = at_threshold(predictions, dataset, cut)
    return {"threshold": threshold, "cut": cut if isinstance(cut, float | int) else None, "passed": passed}


class Calibrated(NamedTuple):
    """How far scores can be read as probabilities; without figures if they are not from 0 to 1."""

    figures: dict[str, float]
    diagram: Reliability | None


def calibration_of(
    predictions: Predictions, dataset: Dataset, frequency: NDArray[np.int64] | None = None
) -> Calibrated:
    """The calibration error of the ten best labels, that of rare ones if frequencies are known, and the Brier score."""
    k, scores = min(10, predictions.k), predictions.scores[predictions.labels >= 0]
    if predictions.kind not in ("score", "probability") or scores.min(initial=0) < 0 or scores.max(initial=0) > 1:
        return Calibrated({}, None)
    diagram = reliability(predictions, dataset, k=k)
    found = {f"ece@{k}": diagram.error, f"brier@{k}": brier_score(predictions, dataset, k=k)}
    if frequency is not None:
        found[f"ece_rare@{k}"] = expected_calibration_error(predictions, dataset, k=k, among=frequency <= _RARE)
    return Calibrated(found, diagram)

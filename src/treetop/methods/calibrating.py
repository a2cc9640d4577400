"""How a model learns to give probabilities, and what a threshold that is asked for in words means for it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treetop.calibration import Calibration
from treetop.calibration.aims import parse_aim
from treetop.calibration.calibration import MOST_TEXTS
from treetop.data import Corpus, Dataset, LabelSpace
from treetop.errors import ConfigError, DataError
from treetop.metrics.truth import as_truth
from treetop.predictions import Ask, Kind, Predictions
from treetop.types import Floats

__all__ = ["HeldOutModel", "cut_at", "held_out", "learn_calibration"]

_COPIES = 0.5  # share of texts that may be copies of training texts, as of short titles; they are left out


class HeldOutModel(Protocol):
    """What learning from held-out texts needs of a model."""

    space: LabelSpace
    frequency: NDArray[np.int64]

    @property
    def calibration_depth(self) -> int:
        """Labels of each held-out text that calibration looks at."""
        ...

    @property
    def suggests_unseen(self) -> bool:
        """Whether label names found in texts count."""
        ...

    def trained_on(self, texts: Any) -> NDArray[np.bool_] | None:
        """Which texts the model learned from."""
        ...

    def _rank(self, corpus: Corpus, ask: Ask) -> Predictions: ...


def learn_calibration(model: HeldOutModel, dataset: Dataset) -> Calibration:
    """The calibration of a model on texts that it was not trained on."""
    dataset = held_out(model, dataset)
    found = model._rank(dataset.corpus, Ask(min(model.calibration_depth, len(model.space))))
    predictions = Predictions(found.labels, found.scores, model.space.names, found.kind)
    true = as_truth(predictions, dataset)
    return Calibration.fit(predictions, true, model.frequency, apart=model.suggests_unseen)


def held_out(model: HeldOutModel, dataset: Dataset) -> Dataset:
    """The texts to calibrate on: without copies of training texts, and no more than are of use."""
    learned = model.trained_on(dataset.corpus)
    if learned is not None and learned.any():
        if learned.mean() > _COPIES:
            share = f"{int(learned.sum()):,} of the {len(dataset):,} texts"
            raise DataError(
                f"{share} are among those that the model was trained on, of which it is surer than of others; "
                "calibrate on texts that it has not seen"
            )
        dataset = dataset.take(~learned)
    if len(dataset) > MOST_TEXTS:
        dataset = dataset.take(np.linspace(0, len(dataset) - 1, MOST_TEXTS).astype(np.int64))
    return dataset


def cut_at(threshold: float | str, calibration: Calibration | None, kind: Kind) -> float | Floats:
    """The score, or the score of each label, that a threshold stands for; `kind` is what the scores are."""
    if not isinstance(threshold, str):
        return threshold
    try:
        return float(threshold)
    except ValueError:
        pass
    parse_aim(threshold)  # first of all it must be one
    if calibration is None:
        raise ConfigError(
            f"threshold is {threshold!r}, which only a calibrated model can find; calibrate it on held-out texts "
            "(model.calibrate, or treetop calibrate), or give a number"
        )
    if kind != "probability":
        raise ConfigError(
            f"threshold is {threshold!r}, but scores made from places in lists are no probabilities among some labels "
            f"or for k above {calibration.depth}; leave out labels and ask for fewer, or leave out the threshold"
        )
    return calibration.threshold(threshold)

"""A trial: one setting, trained on some texts and judged on held-out ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treetop.apps.tuning.space import Setting
from treetop.metrics import Spread

__all__ = ["Trial", "mean_of", "pooled"]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What came of a setting."""

    setting: Setting
    texts: int
    """Texts that it learned from; only trials on equally many can be compared."""
    metrics: dict[str, float]
    """On the held-out texts, as fractions."""
    score: Spread
    """What settings are chosen by: the mean of the metrics, with what every held-out text does to it."""
    weights: int
    """Weights of the model."""
    seconds: float
    """Wall seconds of training, features and tree included, also if they were shared with an earlier trial."""
    cpu_seconds: float
    megabytes: float
    """The arrays of its model folder: weights, tree and vocabulary."""
    milliseconds: float = 0.0
    """From one text to its labels, the median of some texts; measured only where it is limited."""
    trainings: int = 1
    """Models that were trained for it."""

    @property
    def judged(self) -> int:
        """Held-out texts that it was judged on; only trials on the same can be compared."""
        return len(self.score.each)


def pooled(first: Trial, others: Sequence[Trial]) -> Trial:
    """A setting that was judged on several sets of texts as if they were one; its costs are those of the first."""
    every = (first, *others)
    sizes = [trial.judged for trial in every]
    metrics = {
        name: float(np.average([trial.metrics[name] for trial in every], weights=sizes)) for name in first.metrics
    }
    value = float(np.average([trial.score.value for trial in every], weights=sizes))
    each = np.concatenate([trial.score.each + trial.score.value - value for trial in every])
    return replace(first, metrics=metrics, score=Spread(value, each), trainings=len(others))


def mean_of(spreads: Sequence[Spread]) -> Spread:
    """The mean of several metrics of the same texts, with what each text does to it."""
    each = np.sum([spread.each for spread in spreads], axis=0) / len(spreads)
    value = sum(spread.value for spread in spreads) / len(spreads)
    return Spread(value, np.asarray(each, np.float32).astype(np.float64))  # as the journal keeps them

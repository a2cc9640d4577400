"""Figures of every label: how often it is true, suggested and right, and what it is confused with."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treetop.apps.comparing import Contender, Field
from treetop.apps.report.decisions import accepted
from treetop.metrics.confusions import confusions
from treetop.metrics.labelwise import count_labels
from treetop.metrics.ranking import judge
from treetop.predictions import Predictions

__all__ = ["LabelFigures", "label_figures", "write_labels"]

_COLUMNS = (
    "model", "label", "training_texts", "texts", "suggested", "right", "precision", "recall", "f1", "confused_with",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class LabelFigures:
    """Columns with an entry per label, in the numbers of the field."""

    name: str
    rule: str
    """Which suggestions count."""
    true: NDArray[np.int64]
    suggested: NDArray[np.int64]
    right: NDArray[np.int64]
    confused: Predictions
    """Of each label, those that stood in its place."""

    @property
    def precision(self) -> NDArray[np.float64]:
        """NaN for a label that was never suggested."""
        return _share(self.right, self.suggested)

    @property
    def recall(self) -> NDArray[np.float64]:
        """NaN for a label that is never true."""
        return _share(self.right, self.true)

    @property
    def f1(self) -> NDArray[np.float64]:
        """NaN for a label that is neither true nor suggested."""
        return _share(2 * self.right, self.true + self.suggested)


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)


def label_figures(one: Contender, field: Field) -> LabelFigures:
    """The figures of a contender."""
    width, taken = len(field.dataset.space), accepted(one, field)
    counts = count_labels(judge(taken.predictions, field.dataset.labels, taken.predictions.k), taken.predictions.k)
    confused = confusions(judge(one.predictions, field.dataset.labels, one.predictions.k))
    assert len(counts.true) == width == len(confused)
    return LabelFigures(one.name, taken.rule, counts.true, counts.predicted, counts.hit, confused)


def write_labels(file: IO[str], field: Field, several: list[LabelFigures]) -> None:
    """A csv table with a row per label and model: labels that are true or were suggested somewhere."""
    table = csv.writer(file, lineterminator="\n")
    table.writerow(_COLUMNS)
    names, frequency = field.dataset.space.names, field.frequency
    for one in several:
        columns = (one.true, one.suggested, one.right, one.precision, one.recall, one.f1)
        for label in np.flatnonzero(one.true + one.suggested).tolist():
            learned = "" if frequency is None else int(frequency[label])
            confused = " | ".join(names[other] for other in one.confused.labels[label].tolist() if other >= 0)
            figures = [_cell(column[label]) for column in columns]
            table.writerow([one.name, names[label], learned, *figures, confused])


def _cell(value: Any) -> str:
    return "" if np.isnan(value) else f"{value:.4g}" if isinstance(value, np.floating) else str(value)

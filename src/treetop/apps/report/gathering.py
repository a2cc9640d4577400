"""Everything that a report says, as plain figures: the page, the JSON file and the table of labels all come from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from math import isfinite
from typing import Any

import numpy as np

from treetop.apps.comparing import Comparison, Contender, Field, compare
from treetop.apps.measure import calibration_of
from treetop.apps.report.about import about_data, about_model, versions
from treetop.apps.report.decisions import Chosen, chosen, curve_of
from treetop.apps.report.labelwise import LabelFigures, label_figures
from treetop.apps.report.mistakes import Mistake, mistakes
from treetop.metrics import DEFAULT, PROPENSITY_SCORED, Reliability

__all__ = ["DEPTH", "Part", "Report", "gather"]

DEPTH = 50
"""Labels of each text that are looked at: enough for thresholds and confusions."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is said of one contender alone."""

    name: str
    about: dict[str, Any]
    """Empty for a file of predictions."""
    labels: LabelFigures
    calibration: dict[str, float]
    diagram: Reliability | None
    curve: dict[str, list[float]]
    chosen: list[Chosen]
    mistakes: list[Mistake]

    def flat(self) -> dict[str, Any]:
        """For programs."""
        bins = () if self.diagram is None else zip(*(column.tolist() for column in self.diagram), strict=True)
        return {
            "name": self.name,
            **self.about,
            "calibration": self.calibration,
            "reliability": [dict(zip(Reliability._fields, row, strict=True)) for row in bins],
            "threshold_curve": self.curve,
            "chosen_thresholds": [asdict(one) for one in self.chosen],
            "accepted": self.labels.rule,
            "worst_errors": [asdict(one) for one in self.mistakes],
        }


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison, and what is said of each contender."""

    comparison: Comparison
    data: dict[str, Any]
    parts: tuple[Part, ...]
    versions: dict[str, str]
    made: str

    @property
    def field(self) -> Field:
        """Contenders and texts."""
        return self.comparison.field

    @property
    def names(self) -> list[str]:
        """The contenders."""
        return self.comparison.names

    def remarks(self) -> list[str]:
        """What makes these figures less than they seem."""
        sure = [part.name for part in self.parts if part.chosen]
        held_out = [f"probabilities and thresholds of {', '.join(sure)} may have been learned from these dev texts"]
        return self.comparison.remarks() + (held_out if sure and self.data["split"] == "dev" else [])

    def flat(self) -> dict[str, Any]:
        """All figures for programs, but for those of single labels, which are a table of their own."""
        about = {"made": self.made, "versions": self.versions, "remarks": self.remarks()}
        told = {"data": self.data, **self.comparison.flat(), "models": [part.flat() for part in self.parts]}
        found: dict[str, Any] = _for_json(about | told)
        return found


def gather(field: Field, split: str, metrics: Sequence[str] | None = None, benchmark: str | None = None) -> Report:
    """Measure and describe all contenders of a field."""
    asked = metrics or (*DEFAULT, *(() if field.reference is None else PROPENSITY_SCORED))
    comparison = compare(field, asked, benchmark)
    parts = tuple(_part(one, field) for one in field.contenders)
    made = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return Report(comparison, about_data(field, split), parts, versions(), made)


def _part(one: Contender, field: Field) -> Part:
    found = calibration_of(one.predictions, field.dataset, field.frequency)
    return Part(
        name=one.name,
        about={} if one.model is None else about_model(one.model),
        labels=label_figures(one, field),
        calibration=found.figures,
        diagram=found.diagram,
        curve=curve_of(one, field),
        chosen=chosen(one, field),
        mistakes=mistakes(one, field),
    )


def _for_json(value: Any) -> Any:
    """JSON has no infinity, and no numbers of numpy."""
    if isinstance(value, dict):
        return {name: _for_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value

"""From rankings to decisions: which suggestions of a model are accepted, and what other thresholds would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treetop.apps.comparing import Contender, Field
from treetop.calibration.evidence import Evidence
from treetop.methods.calibrating import cut_at
from treetop.metrics import at_threshold
from treetop.metrics.ranking import judge
from treetop.predictions import Predictions
from treetop.types import Floats

__all__ = ["AIMS", "Accepted", "Chosen", "accepted", "can_be_cut", "chosen", "curve_of"]

AIMS = ("f1", "f1-macro", "f1-per-label", "precision:0.9")
"""Thresholds that are tried: chosen on held-out texts, judged on those of the report."""
_STEPS = 99  # thresholds of a curve, from 0.01 to 0.99


class Accepted(NamedTuple):
    """The suggestions that count as accepted where a figure needs a decision."""

    predictions: Predictions
    rule: str
    """What is accepted, in words."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a threshold chosen on held-out texts did on these."""

    aim: str
    cut: float | None
    """None if every label has its own."""
    figures: dict[str, float]


def accepted(one: Contender, field: Field) -> Accepted:
    """With a calibrated model what the best F1 accepts; else as many labels as texts have on average."""
    if _calibrated(one):
        cut = _cut(one, field, "f1")
        return Accepted(
            one.predictions.at_least(cut), f"labels from {cut:.2f} on, which gave the best F1 when held out"
        )
    k = max(1, round(field.dataset.labels.nnz / max(len(field.dataset), 1)))
    return Accepted(one.predictions.top(k), f"the best {k} of each text, as many as texts have on average")


def chosen(one: Contender, field: Field) -> list[Chosen]:
    """What each aim led to; nothing for a model that was not calibrated."""
    cuts = {aim: _cut(one, field, aim) for aim in AIMS} if _calibrated(one) else {}
    return [
        Chosen(aim, cut if isinstance(cut, float) else None, at_threshold(one.predictions, field.dataset, cut))
        for aim, cut in cuts.items()
    ]


def curve_of(one: Contender, field: Field) -> dict[str, list[float]]:
    """Precision, recall, both F1s and labels per text at thresholds from 0.01 to 0.99; empty where scores are none."""
    if not can_be_cut(one.predictions):
        return {}
    judged = judge(one.predictions, field.dataset.labels, one.predictions.k)
    curve = Evidence.of(judged, one.predictions.scores, len(field.dataset.space)).curve()
    thresholds = np.arange(1, _STEPS + 1) / (_STEPS + 1)
    place = np.searchsorted(-curve.threshold, -thresholds, "right")  # suggestions that pass
    columns = {name: np.append(0.0, getattr(curve, name))[place] for name in curve._fields[1:]}
    columns["precision"] = np.append(1.0, curve.precision)[place]  # of nothing
    return {"threshold": thresholds.tolist()} | {name: column.tolist() for name, column in columns.items()}


def can_be_cut(predictions: Predictions) -> bool:
    """Whether scores are from 0 to 1, so that the same threshold means the same for every text."""
    scores = predictions.scores[predictions.labels >= 0]
    from_0_to_1 = scores.min(initial=0) >= 0 and scores.max(initial=0) <= 1
    return predictions.kind in ("score", "probability") and bool(from_0_to_1)


def _calibrated(one: Contender) -> bool:
    known = one.model is not None and one.model.calibration is not None
    return known and one.predictions.kind == "probability"


def _cut(one: Contender, field: Field, aim: str) -> float | Floats:
    """The threshold, in the numbers of the field if every label has its own."""
    assert one.model is not None
    cut = cut_at(aim, one.model.calibration, one.predictions.kind)
    if isinstance(cut, float):
        return cut
    wide = np.full(len(field.dataset.space), np.inf, np.float32)
    wide[[field.dataset.space.index[name] for name in one.model.space.names]] = cut
    return wide

"""What names are worth: weights that rank held-out texts best, or none.

Powers and weights are tried from lists, weights in units of how far scores spread: first one for all labels, then
another for labels without training texts. The best have the highest mean of P@1, P@3 and P@5; unless that is above the
ranking without names by more than its standard error (over texts, paired), names are of no use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.data import LabelSpace
from treetop.metrics.ranking import judge
from treetop.naming.index import NameIndex
from treetop.naming.naming import Naming
from treetop.predictions import Ask, Predictions
from treetop.runtime import Runtime
from treetop.types import CSR

__all__ = ["MOST_TEXTS", "Choice", "choose_weights"]

MOST_TEXTS = 4_000
"""Held-out texts beyond which the choice does not change."""
_WEIGHTS = (
    0.015,
    0.03,
    0.06,
    0.12,
    0.25,
    0.5,
    1.0,
    2.0,
    4.0,
)  # of how far scores spread
_POWERS = (1, 2, 3, 4)
_UNSEEN = (0.25, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5)  # of the weight of other labels
_ENDS = 0.05  # quantile of the last scores of lists that counts for labels beyond


@dataclass(frozen=True, slots=True)
class Choice:
    """What came of the search."""

    naming: Naming | None
    """None if names are of no use."""
    texts: int
    without: float
    """The mean of P@1, P@3 and P@5 without names."""
    best: float
    """The same with the best weights that were tried."""
    error: float
    """The standard error of the difference."""

    def facts(self) -> dict[str, Any]:
        """For the card of a model."""
        found = {"texts": self.texts, "used": self.naming is not None}
        return found | {name: round(getattr(self, name), 5) for name in ("without", "best", "error")}


def choose_weights(
    listed: Predictions, terms: CSR, true: CSR, index: NameIndex, space: LabelSpace, unseen: NDArray[np.bool_],
    trained: int, runtime: Runtime,
) -> Choice:  # fmt: skip
    """The weights for a model that lists these labels for held-out texts with these terms of names."""
    floor, spread = _floor_and_spread(listed)
    base = Naming(space, index, trained, 0.0, 0.0, 1, floor, listed.kind, unseen)

    def gains(naming: Naming) -> NDArray[np.float64]:
        return _gains(naming.ranked(listed, terms, Ask(5), runtime), true)

    without = _gains(listed.top(5), true)
    tried = [
        replace(base, weight=spread * weight, unseen_weight=spread * weight, power=power)
        for power in _POWERS
        for weight in _WEIGHTS
    ]
    best = max(tried, key=lambda naming: gains(naming).mean())
    if unseen.any():
        tried = [replace(best, unseen_weight=best.weight * share) for share in _UNSEEN]
        best = max(tried, key=lambda naming: gains(naming).mean())
    gained = gains(best) - without
    error = float(gained.std(ddof=1) / np.sqrt(len(gained)))
    helps = gained.mean() > error
    return Choice(best if helps else None, len(gained), float(without.mean()), float((without + gained).mean()), error)


def _floor_and_spread(listed: Predictions) -> tuple[float, float]:
    """What lists end with, and how far above that they begin, as a rule."""
    given = listed.labels >= 0
    some = given.any(axis=1)
    if not some.any():
        return 0.0, 1.0
    last = listed.scores[np.flatnonzero(some), given.sum(axis=1)[some] - 1]
    floor = float(np.quantile(last, _ENDS))
    spread = float(np.median(listed.scores[some, 0])) - floor
    return floor, spread if spread > 0 else 1.0


def _gains(predictions: Predictions, true: CSR) -> NDArray[np.float64]:
    """The mean of P@1, P@3 and P@5 of each text."""
    hits = judge(predictions, true, 5).hits
    return np.asarray(sum(hits[:, :k].sum(axis=1) / k for k in (1, 3, 5)) / 3, np.float64)

"""What names are worth: weights that rank held-out texts best, or none.

Powers and weights are tried from lists, weights in units of how far scores spread: first one for all labels, then
another for labels without training texts. The best have the highest mean of P@1, P@3 and P@5 among those that lose
nothing: neither one of these nor the best micro-F1 that a threshold reaches is lower than without names by more than
its standard error (over texts, paired). Unless the mean gains more than its own error, names are of no use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, TypeAlias

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

Figures: TypeAlias = NDArray[np.float64]
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
_DEPTH = 10  # labels of a text that are looked at
_PRECISIONS = 3  # the first of the figures are P@1, P@3 and P@5
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
    without = _figures(listed, true)
    floor, spread = _floor_and_spread(listed)
    base = Naming(space, index, trained, 0.0, 0.0, 1, floor, listed.kind, unseen)
    tried: list[_Tried] = []

    def try_out(naming: Naming) -> None:
        found = _figures(naming.ranked(listed, terms, Ask(_DEPTH), runtime), true)
        tried.append(_Tried(naming, found, _loses(found, without)))

    for power, weight in product(_POWERS, _WEIGHTS):
        try_out(replace(base, weight=spread * weight, unseen_weight=spread * weight, power=power))
    if unseen.any():
        seen = max(tried, key=_Tried.worth).naming
        for share in _UNSEEN:
            try_out(replace(seen, unseen_weight=seen.weight * share))
    best = max(tried, key=_Tried.worth)
    gained = (best.figures - without)[:, :_PRECISIONS].mean(axis=1)
    error = _error(gained)
    helps = gained.mean() > error and not best.loses
    before = float(without[:, :_PRECISIONS].mean())
    return Choice(best.naming if helps else None, len(gained), before, before + float(gained.mean()), error)


class _Tried(NamedTuple):
    """Weights, what came of them, and whether something got worse."""

    naming: Naming
    figures: Figures
    loses: bool

    def worth(self) -> tuple[bool, float]:
        """What the best have most of."""
        return not self.loses, float(self.figures[:, :_PRECISIONS].mean())


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


def _figures(predictions: Predictions, true: CSR) -> Figures:
    """P@1, P@3, P@5 of each text, and its part in the best micro-F1 of one threshold: means are the figures.

    With F the micro-F1 of all, and h labels right of g given and t true, a text's part is F + (2h - F (g + t)) / mean
    of g + t: how F would change with it, to first order.
    """
    judged = judge(predictions, true, _DEPTH)
    hits = judged.hits
    scores = np.where(judged.labels >= 0, predictions.top(_DEPTH).scores, -np.inf)
    order = np.argsort(-scores, axis=None, kind="stable")
    f1 = 2 * np.cumsum(hits.ravel()[order]) / (np.arange(1, hits.size + 1) + judged.true_counts.sum())
    best = int(np.argmax(f1))
    given = scores >= scores.ravel()[order[best]]
    both = given.sum(axis=1) + judged.true_counts
    parts = f1[best] + (2 * (hits & given).sum(axis=1) - f1[best] * both) / both.mean()
    return np.column_stack([*(hits[:, :k].sum(axis=1) / k for k in (1, 3, 5)), parts])


def _loses(found: Figures, without: Figures) -> bool:
    """Whether one of the figures is lower by more than its error."""
    return any(change.mean() < -_error(change) for change in (found - without).T)


def _error(differences: NDArray[np.float64]) -> float:
    return float(differences.std(ddof=1) / np.sqrt(len(differences)))

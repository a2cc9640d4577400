"""What each answer does to a figure: an additive model of the trials so far, by which the next ones are chosen.

    figure(setting, round) ≈ level of the round + Σ effects of the setting's answers that are not the default

fitted by least squares with a small ridge, so that answers that were not tried yet have no effect. Trials on more texts
weigh more: what helps a few texts need not help many.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treetop.apps.tuning.space import Setting, Space
from treetop.apps.tuning.trial import Trial

__all__ = ["Effects"]

_RIDGE = 0.05


class Effects:
    """The effects of all answers on one figure of the trials."""

    def __init__(self, space: Space, trials: Sequence[Trial], figures: Sequence[float]) -> None:
        self._space = space
        rounds = sorted({trial.texts for trial in trials})
        level = np.array([rounds.index(trial.texts) for trial in trials])
        rows = np.hstack([np.eye(len(rounds))[level], self._rows([trial.setting for trial in trials])])
        weights = np.array([trial.texts / rounds[0] for trial in trials])
        ridge = np.diag(np.concatenate([np.full(len(rounds), 1e-9), np.full(rows.shape[1] - len(rounds), _RIDGE)]))
        weighted = rows * weights[:, None]
        solved = np.linalg.solve(weighted.T @ rows + ridge, weighted.T @ np.array(figures, np.float64))
        self._last_level, self._effects = float(solved[len(rounds) - 1]), solved[len(rounds) :]

    def of(self, setting: Setting) -> float:
        """How much more than the default a setting is expected to have."""
        return float((self._rows([setting]) @ self._effects)[0])

    def expected(self, setting: Setting) -> float:
        """The figure that is expected of a setting on as many texts as in the largest round."""
        return self._last_level + self.of(setting)

    def best_first(self) -> list[Setting]:
        """All settings of the space, those of the highest figure first; of equal ones those nearer the default."""
        every = np.array(list(product(*(range(len(question.answers)) for question in self._space.questions))))
        every = every[np.argsort(np.count_nonzero(every, axis=1), kind="stable")]
        order = np.argsort(-(self._rows(every) @ self._effects), kind="stable")
        return [tuple(setting) for setting in every[order].tolist()]

    def _rows(self, settings: ArrayLike) -> NDArray[np.float64]:
        """A column for each answer that is not the default: 1 where a setting gives it."""
        given = np.asarray(settings)
        answers = [np.arange(1, len(question.answers)) for question in self._space.questions]
        return np.hstack([given[:, [place]] == others for place, others in enumerate(answers)]).astype(np.float64)

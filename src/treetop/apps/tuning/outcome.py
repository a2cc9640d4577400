"""What a search found: the best setting, the simplest that is as good, and what mattered.

Settings are compared on the same held-out texts, in pairs. Any setting whose distance from the best is within one
standard error of that distance is as good as the best; the simplest of them is chosen, which is the one with the fewest
answers that are not treetop's default, and of several such the one with the fewest weights.

    The rule of one standard error: Breiman, Friedman, Olshen, Stone: Classification and Regression Trees, 1984, 3.4.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from treetop.apps.tuning.limits import Limits
from treetop.apps.tuning.space import Answer, Question, Setting, Space
from treetop.apps.tuning.trial import Trial
from treetop.errors import ConfigError
from treetop.metrics import Difference

__all__ = ["Mattered", "Outcome"]


class Mattered(NamedTuple):
    """What another answer to one question does to the chosen setting, or to the nearest that was tried."""

    question: Question
    answer: Answer
    texts: int
    gain: Difference
    """With the answer minus with the default one, all else being equal."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """All trials of a search, and what follows from them."""

    space: Space
    trials: tuple[Trial, ...]
    metrics: tuple[str, ...]
    seconds: float
    texts: int = 0
    """What there was to learn from; trials on all of them decide if the budget allows some."""
    interrupted: bool = False
    limits: Limits = field(default_factory=Limits)
    """What the chosen one may cost."""

    def __post_init__(self) -> None:
        if not self.trials:
            raise ConfigError("the budget ended before the first trial did; give more, or choose settings yourself")

    @property
    def last(self) -> list[Trial]:
        """The trials on most texts, judged on most, which decide, the best first."""
        most = max(map(_size, self.trials))
        return sorted((one for one in self.trials if _size(one) == most), key=lambda one: -one.score.value)

    @property
    def allowed(self) -> list[Trial]:
        """Those of them that keep to the limits; the one that is nearest to them if none does."""
        within = [trial for trial in self.last if self.limits.excess(trial) <= 1]
        return within or [min(self.last, key=self.limits.excess)]

    @property
    def keeps(self) -> bool:
        """Whether what was chosen keeps to the limits."""
        return self.limits.excess(self.chosen) <= 1

    @property
    def best(self) -> Trial:
        """The trial with the highest figure."""
        return self.allowed[0]

    @property
    def chosen(self) -> Trial:
        """The simplest of those that are as good as the best."""
        return min(self.as_good, key=lambda trial: (len(self.space.changes(trial.setting)), trial.weights))

    @property
    def chosen_at_first(self) -> Trial:
        """The same setting judged on the first of the held-out texts alone."""
        same = (one for one in self.trials if (one.setting, one.texts) == (self.chosen.setting, self.chosen.texts))
        return min(same, key=lambda trial: trial.judged)

    @property
    def as_good(self) -> list[Trial]:
        """The trials within one standard error of the best, and the best."""
        return [trial for trial in self.allowed if trial is self.best or _near(self.best.score.minus(trial.score))]

    @property
    def default(self) -> Trial | None:
        """The default setting among the last trials, if it was tried on as many texts."""
        return next((trial for trial in self.last if trial.setting == self.space.default), None)

    @property
    def trainings(self) -> int:
        """How many models were trained; a model may have been judged more than once."""
        models = {(_size(trial), self.space.trained(trial.setting)): trial.trainings for trial in self.trials}
        return sum(models.values())

    def mattered(self) -> list[Mattered]:
        """For each answer the pair of trials that differ in it alone: on most texts, and nearest to what was chosen."""
        found = []
        tried = {(_size(trial), trial.setting): trial for trial in self.trials}
        for place, question in enumerate(self.space.questions):
            for number in range(1, len(question.answers)):
                pairs = [
                    (one, tried[without])
                    for (size, setting), one in tried.items()
                    if setting[place] == number and (without := (size, _with(setting, place, 0))) in tried
                ]
                if pairs:
                    one, other = max(pairs, key=lambda pair: (_size(pair[0]), -self._distance(pair[0].setting)))
                    gain = one.score.minus(other.score)
                    found.append(Mattered(question, question.answers[number], one.texts, gain))
        return found

    def _distance(self, setting: Setting) -> int:
        return sum(one != other for one, other in zip(setting, self.chosen.setting, strict=True))


def _size(trial: Trial) -> tuple[int, int]:
    """How many texts a trial learned from and was judged on: trials on the same can be compared."""
    return trial.texts, trial.judged


def _near(gap: Difference) -> bool:
    return gap.value <= gap.standard_error


def _with(setting: Setting, place: int, answer: int) -> Setting:
    return (*setting[:place], answer, *setting[place + 1 :])

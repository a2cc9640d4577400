"""The search: rounds on ever more training texts, each of which only the best settings reach (successive halving).

The first round tries the presets, then every answer by itself, then what an additive model of the trials so far expects
most of. Each further round begins with the best settings of the one before, the presets, and the best of these with
other features, as few texts favour other features than many do; then it tries what the model now expects more of. The
last round is on all texts. Features and trees are shared between trials of a round. Where few texts are held out, the
best are trained and judged on other folds of the texts at the end.

    Jamieson, Talwalkar: Non-stochastic best arm identification and hyperparameter optimization, AISTATS 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import exp, log

import numpy as np

from treetop.apps.tuning.bench import Bench
from treetop.apps.tuning.budget import Budget
from treetop.apps.tuning.effects import Effects
from treetop.apps.tuning.folds import Fold
from treetop.apps.tuning.journal import Journal
from treetop.apps.tuning.limits import Limits
from treetop.apps.tuning.outcome import Outcome
from treetop.apps.tuning.space import Setting, Space, space_for
from treetop.apps.tuning.trial import Trial, pooled
from treetop.errors import DataError
from treetop.progress import Advance
from treetop.runtime import Runtime

__all__ = ["METRICS", "Wish", "rounds_of", "tune"]

METRICS = ("p@1", "p@3", "p@5")
"""What settings are chosen by unless told otherwise: their mean."""
_FIRST, _FIRST_SHARE = (4_000, 8_000), 16  # texts of the first round: a sixteenth of all, but from 4,000 to 8,000
_HELD_OUT_AT_FIRST = 2_000
_MARGIN = 1.2  # how much longer than expected a training may take
_LARGEST = 0.25  # of the budget: a setting that takes longer on all texts is not tried
_LOOKED_AT = 200  # of the settings that fit into the budget, those that are expected to be best
_GROWTH = 1.1  # seconds of a training grow with the number of texts to this power
_GROWTHS = {"cpu_seconds": _GROWTH, "weights": 0.5, "megabytes": 0.5, "milliseconds": 0.0}
"""The same of other costs, at least: what would exceed a limit for certain is not tried, what may do so is."""
_SEARCHED, _FINALISTS = 0.6, 12
"""Where there are several folds: the share of the budget for the rounds, and the settings that go on to all folds."""
_NEAR, _RISE = 0.005, 0.02
"""How near features must be expected to come to the best to be tried on all texts; what is expected of more texts where
one round alone tells."""
_PACE = {
    1: [(1.0, 40, 0)],
    2: [(0.5, 30, 0), (1.0, 12, 5)],
    3: [(0.35, 30, 0), (0.6, 14, 6), (1.0, 9, 3)],
}
"""For one, two or three rounds: the share of the budget that may be spent when each ends, trainings at most, and how
many of the best settings it takes over from the round before. Larger budgets than the usual have more of both."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a search is asked for."""

    metrics: tuple[str, ...] = METRICS
    """Settings are chosen by their mean."""
    budget: Budget = field(default_factory=Budget)
    limits: Limits = field(default_factory=Limits)
    """What a model may cost."""


@dataclass(frozen=True, slots=True)
class _Round:
    """One round: how many texts, and how much of the budget and how many trainings there are for it."""

    texts: int
    share: float
    width: int
    kept: int


def rounds_of(texts: int) -> list[int]:
    """The number of training texts of each round; the last is all of them."""
    first = min(max(texts // _FIRST_SHARE, _FIRST[0]), _FIRST[1])
    if texts < 2 * first:
        return [texts]
    return [first, texts] if texts < 6 * first else [first, round((first * texts) ** 0.5), texts]


def tune(folds: Sequence[Fold], wish: Wish, runtime: Runtime, journal: Journal | None = None) -> Outcome:
    """Search for the settings that do best on held-out texts, until the budget is spent or nothing is left to try.

    The rounds are on the first fold. Ctrl-C ends the search as the budget does: what is known by then decides.
    """
    search = _Search(folds, wish, runtime, journal or Journal())
    interrupted = False
    with runtime.bar("try settings", search.most) as advance:
        try:
            for one in search.rounds:
                search.run(one, advance)
            search.confirm(advance)
        except KeyboardInterrupt:
            if not search.trials:
                raise
            interrupted = True
    spent, learned = wish.budget.spent, len(folds[0].learned)
    trials = (*search.trials, *search.confirmed)
    return Outcome(search.space, trials, wish.metrics, spent, learned, interrupted, wish.limits)


class _Search:
    """The trials so far, and which one is next."""

    def __init__(self, folds: Sequence[Fold], wish: Wish, runtime: Runtime, journal: Journal) -> None:
        (train, held_out), *self._others = folds
        self.space: Space = space_for(train)
        self.trials: list[Trial] = []
        self.confirmed: list[Trial] = []
        """The best of the last round, judged on all folds."""
        self._train, self._held_out, self._runtime = train, held_out, runtime
        self._budget, self._metrics, self._journal = wish.budget, wish.metrics, journal
        self._order = np.random.default_rng(runtime.seed).permutation(len(train))
        self._limits = wish.limits
        self._seconds = "cpu_seconds" if wish.budget.cpu else "seconds"
        sizes = rounds_of(len(train))
        growth = self._budget.growth(sum(width for _, width, _ in _PACE[len(sizes)]))
        searched = _SEARCHED if self._others else 1.0
        self.rounds = [
            _Round(texts, searched * share, round(growth * width), round(growth * kept))
            for texts, (share, width, kept) in zip(sizes, _PACE[len(sizes)], strict=True)
        ]
        self._finalists = round(growth * _FINALISTS) if self._others else 0

    @property
    def most(self) -> int:
        """Steps that the search has at most."""
        return sum(one.width for one in self.rounds) + self._finalists

    def run(self, this: _Round, advance: Advance) -> None:
        """One round: what is certain to be tried, then what is expected to be good, while the budget allows."""
        bench, tried = self._bench(this.texts), set[Setting]()
        while len(tried) < this.width:
            fits, keeps = self._fits(this), self._keeps(this)
            wanted = (one for one in self._wanted(this) if one not in tried)
            possible = list(islice(filter(fits, wanted), _LOOKED_AT))
            setting = next(filter(keeps, possible), possible[0] if possible and not tried else None)
            if setting is None:
                break
            tried.add(setting)
            self._budget.done += 1
            try:
                run = partial(bench.run, self.space, setting)
                trials = self._journal.trials(this.texts, setting, run, self._budget)
            except DataError:
                if not self.trials:
                    raise
                continue  # what these texts do not allow, as terms of two texts where no two share one
            self._journal.check(trials, self.space.rankings(setting), self._metrics, bench.judged)
            self.trials += trials
            advance(1, self._note())

    def confirm(self, advance: Advance) -> None:
        """The best once more, on the other folds: what was luck on the first held-out texts is not on others."""
        clocked, beside = self._limits.milliseconds is not None, len(self._others)
        benches = [Bench(*fold, self._metrics, self._runtime, clocked=clocked, beside=beside) for fold in self._others]
        for first in self._finals():
            if not self._budget.has(1.0, _MARGIN * beside * getattr(first[0], self._seconds)):
                continue
            self._budget.done += 1
            setting = self.space.trained(first[0].setting)
            try:
                again = [self._again(number, bench, setting) for number, bench in enumerate(benches, 1)]
            except DataError:
                continue  # as in a round
            self.confirmed += [pooled(one, others) for one, *others in zip(first, *again, strict=True)]
            advance(1, self._note())

    def _again(self, number: int, bench: Bench, setting: Setting) -> list[Trial]:
        run = partial(bench.run, self.space, setting)
        trials = self._journal.trials(bench.texts, setting, run, self._budget, fold=number)
        self._journal.check(trials, self.space.rankings(setting), self._metrics, bench.judged)
        return trials

    def _finals(self) -> list[list[Trial]]:
        """What is judged on all folds: the best on all texts, the presets, the next best; all rankings of each."""
        if not self._others:
            return []
        on_all = [trial for trial in self.trials if trial.texts == len(self._train)]
        within = [trial for trial in on_all if self._limits.excess(trial) <= 1] or on_all
        ranked = [self.space.trained(one.setting) for one in sorted(within, key=lambda one: -one.score.value)]
        presets = [self.space.trained(one) for one in self.space.presets().values()]
        order = dict.fromkeys([ranked[0], *(one for one in presets if one in ranked), *ranked] if ranked else [])
        finalists = list(order)[: self._finalists]
        return [[one for one in on_all if self.space.trained(one.setting) == setting] for setting in finalists]

    def _bench(self, texts: int) -> Bench:
        last = texts == len(self._train)
        train = self._train if last else self._train.take(np.sort(self._order[:texts]))
        few = self._held_out.take(range(min(len(self._held_out), _HELD_OUT_AT_FIRST)))
        clocked = self._limits.milliseconds is not None
        return Bench(train, self._held_out if last else few, self._metrics, self._runtime, clocked=clocked)

    def _wanted(self, this: _Round) -> Iterator[Setting]:
        """What the round tries, the most wanted first; of settings that one training serves, that training."""
        certain = self._first() if this is self.rounds[0] else self._kept(this)
        yield from dict.fromkeys(map(self.space.trained, certain))
        if self.trials:
            effects = Effects(self.space, self.trials, [trial.score.value for trial in self.trials])
            yield from dict.fromkeys(map(self.space.trained, effects.best_first()))

    def _first(self) -> Iterator[Setting]:
        yield self.space.default
        yield from self.space.presets().values()
        yield from self.space.neighbours(self.space.default)

    def _kept(self, this: _Round) -> Iterator[Setting]:
        """The best of the round before, the presets, the best preset with other features, the next best."""
        before = self.rounds[: self.rounds.index(this)]
        ranked = sorted((one for one in self.trials if one.texts == before[-1].texts), key=lambda one: -one.score.value)
        best = list(dict.fromkeys(self.space.trained(trial.setting) for trial in ranked))
        presets = [self.space.trained(setting) for setting in self.space.presets().values()]
        yield from best[:1]
        yield from presets
        leader = next((setting for setting in best if setting in presets), self.space.default)
        for kind in self._kinds([one.texts for one in before], last=this is self.rounds[-1]):
            yield (kind, *leader[1:])
        yield from best[1 : this.kept]

    def _kinds(self, before: list[int], *, last: bool) -> list[int]:
        """Answers to the first question, features, to try again on more texts, as few texts favour others than many do.

        Before the last round these are all. For the last one what an answer was worth in the rounds before is drawn on
        to as many texts, and those are left out that are not expected to come near the best.
        """
        kinds = range(len(self.space.questions[0].answers))
        if not last:
            return list(kinds)
        worth = {kind: self._worth(kind, before) for kind in kinds}
        return [kind for kind in kinds if worth[kind] >= max(worth.values()) - _NEAR]

    def _worth(self, kind: int, before: list[int]) -> float:
        """What an answer to the first question is expected to add to the default one on more texts than before."""
        gains = [gain for gain in (self._gain(kind, texts) for texts in before) if gain is not None]
        if not gains or not kind:
            return 0.0
        return gains[-1] + (gains[-1] - gains[-2] if len(gains) > 1 else _RISE)

    def _gain(self, kind: int, texts: int) -> float | None:
        """What it added to the default one on so many texts, in the mean of the pairs of trials that differ in it."""
        score = {trial.setting: trial.score.value for trial in self.trials if trial.texts == texts}
        pairs = [(value, score.get((0, *one[1:]))) for one, value in score.items() if one[0] == kind]
        gains = [value - other for value, other in pairs if other is not None]
        return float(np.mean(gains)) if gains else None

    def _fits(self, this: _Round) -> Callable[[Setting], bool]:
        """Whether a setting can be trained in this round's share, with time left to train the leader on all texts."""
        if not self.trials or not self._budget.has(this.share):
            return lambda _: self._budget.has(this.share)
        clock = self._model(self._seconds)
        longest = max(trial.texts for trial in self.trials)
        to_come = min(self._in_full(self._leader), _LARGEST * self._budget.limit)
        reserve = _MARGIN * to_come if longest < len(self._train) else 0.0  # on all texts it is the first to be tried

        def fits(setting: Setting) -> bool:
            seconds = _MARGIN * exp(clock.expected(setting))
            in_full = seconds * (len(self._train) / longest) ** _GROWTH
            here = seconds * (this.texts / longest) ** _GROWTH
            return in_full <= _LARGEST * self._budget.limit and self._budget.has(this.share, here, reserve)

        return fits

    def _keeps(self, this: _Round) -> Callable[[Setting], bool]:
        """Whether a setting is expected to keep to the limits on all texts; the first round shows what that takes."""
        if this is self.rounds[0]:
            return lambda _: True
        more = log(len(self._train) / max(trial.texts for trial in self.trials))
        bounds = [(self._model(name), log(most) - _GROWTHS[name] * more) for name, most in self._limits.asked.items()]
        return lambda setting: all(model.expected(setting) <= most for model, most in bounds)

    def _model(self, cost: str) -> Effects:
        """What answers do to the logarithm of a cost."""
        return Effects(self.space, self.trials, [log(max(getattr(trial, cost), 1e-3)) for trial in self.trials])

    def _in_full(self, trial: Trial) -> float:
        """Seconds that the training of a setting is expected to take on all texts."""
        return float(getattr(trial, self._seconds) * (len(self._train) / trial.texts) ** _GROWTH)

    @property
    def _leader(self) -> Trial:
        """The best so far of those that the budget allows on all texts, or else the quickest."""
        limit = _LARGEST * self._budget.limit
        possible = [trial for trial in self.trials if _MARGIN * self._in_full(trial) <= limit]
        if not possible:
            return min(self.trials, key=self._in_full)
        return max(possible, key=lambda trial: (trial.texts, trial.score.value))

    def _note(self) -> str:
        best = self._leader
        return f"best on {best.texts:,} texts: {100 * best.score.value:.1f}, {self.space.words(best.setting)}"

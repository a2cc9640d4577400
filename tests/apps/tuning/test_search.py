"""The search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from treetop.apps.tuning import Budget, Outcome, Wish, tune
from treetop.apps.tuning.bench import Bench
from treetop.apps.tuning.folds import Fold, fold_off
from treetop.apps.tuning.search import rounds_of
from treetop.apps.tuning.space import Setting, Space
from treetop.apps.tuning.trial import Trial
from treetop.data import Dataset
from treetop.runtime import Runtime

RUNTIME = Runtime(threads=1)


def search(train: Dataset, test: Dataset, trials: int, *, seed: int = 0) -> Outcome:
    return tune([Fold(train, test)], Wish(budget=Budget(trials=trials)), Runtime(threads=1, seed=seed))


@pytest.mark.parametrize(
    ("texts", "rounds"),
    [(100, [100]), (7_999, [7_999]), (8_000, [4_000, 8_000]), (90_000, [5_625, 22_500, 90_000])],
)
def test_rounds(texts: int, rounds: list[int]) -> None:
    assert rounds_of(texts) == rounds


def test_it_begins_with_the_presets_and_ends_with_the_budget(outcome: Outcome) -> None:
    presets = [outcome.space.trained(setting) for setting in outcome.space.presets().values()]
    tried = list(dict.fromkeys(outcome.space.trained(one.setting) for one in outcome.trials))
    assert tried[:3] == presets
    assert outcome.trainings == len(tried) == 16


def test_a_number_of_trials_repeats_exactly(outcome: Outcome, toy_train: Dataset, toy_test: Dataset) -> None:
    again = search(toy_train, toy_test, 16)
    assert [(one.setting, one.metrics) for one in again.trials] == [
        (one.setting, one.metrics) for one in outcome.trials
    ]
    assert again.chosen.setting == outcome.chosen.setting


def test_more_trials_begin_as_fewer_do(outcome: Outcome, toy_train: Dataset, toy_test: Dataset) -> None:
    few = search(toy_train, toy_test, 5)
    assert [one.setting for one in few.trials] == [one.setting for one in outcome.trials][: len(few.trials)]
    assert few.trainings == 5


def test_it_finds_what_the_texts_need() -> None:
    """Endings that only parts of words can tell: whole words of the held-out texts were never seen."""
    rows = [[f"{stem}{ending}" for ending in ("ing", "ung", "ang")] for stem in _stems(240)]
    texts = [word for row in rows for word in row]
    labels = [[ending] for _ in rows for ending in ("ing", "ung", "ang")]
    whole = Dataset.build(texts, labels)
    found = search(whole.take(range(600)), whole.take(range(600, 720)), 20)
    answers = {question.name: answer.name for question, answer in found.space.answers(found.chosen.setting)}
    assert "parts" in answers["features"]
    assert found.chosen.metrics["p@1"] > 0.9
    assert found.default is not None
    assert found.default.metrics["p@1"] < 0.6


def _stems(count: int) -> list[str]:
    letters = "bcdfghklmnprst"
    return [f"{letters[n % 14]}{'aeiou'[n % 5]}{letters[n // 14 % 14]}{letters[n // 196]}" for n in range(count)]


def test_rounds_go_on_with_the_best_of_the_one_before(
    toy_train: Dataset, toy_test: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treetop.apps.tuning.search._FIRST", (100, 100))
    found = search(toy_train, toy_test, 14)
    first, last = ([one for one in found.trials if one.texts == texts] for texts in (100, 400))
    assert len({found.space.trained(one.setting) for one in first}) == 7
    leader = max(first, key=lambda one: one.score.value)
    assert last[0].setting == found.space.trained(leader.setting)
    assert found.chosen in last


def test_features_that_catch_up_are_tried_on_all_texts(
    toy_train: Dataset, toy_test: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs of words lose 4 points on 50 texts and 1 on 141, so they may win on 400; parts fall behind."""
    monkeypatch.setattr("treetop.apps.tuning.search._FIRST", (50, 50))
    gains = {"features=pairs": {50: -0.04, 141: -0.01}, "features=parts": {50: -0.01, 141: -0.03}}
    run = Bench.run

    def judged(self: Bench, space: Space, setting: Setting) -> list[Trial]:
        gain = gains.get(space.words(setting).split(", ")[0], {}).get(self.texts, 0.0)
        trials = run(self, space, setting)
        return [replace(one, score=one.score._replace(value=0.5 + gain)) for one in trials]

    monkeypatch.setattr(Bench, "run", judged)
    found = search(toy_train, toy_test, 60)
    rounds = sorted({one.texts for one in found.trials})
    assert rounds == [50, 141, 400]
    on_all = [found.space.words(one.setting) for one in found.trials if one.texts == 400]
    first = [words.split(", ")[0] for words in on_all[:12]]
    assert "features=pairs" in first
    assert "features=parts" not in first


def test_what_the_budget_does_not_allow_is_left_out(
    toy_train: Dataset, toy_test: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of words take forever: they are tried once, and neither again nor on all texts; all else goes on."""
    monkeypatch.setattr("treetop.apps.tuning.search._FIRST", (100, 100))
    run = Bench.run

    def slow(self: Bench, space: Space, setting: Setting) -> list[Trial]:
        seconds = 1000.0 if "parts" in space.words(setting) else 1.0
        return [replace(trial, seconds=seconds) for trial in run(self, space, setting)]

    monkeypatch.setattr(Bench, "run", slow)
    found = tune([Fold(toy_train, toy_test)], Wish(budget=Budget(600, clock=lambda: 0.0)), RUNTIME)
    on_all = [one for one in found.trials if one.texts == 400]
    assert on_all
    assert not any("parts" in found.space.words(one.setting) for one in on_all)


def test_the_best_are_judged_on_all_folds(toy_train: Dataset) -> None:
    """The rounds are on the first fold; what decides are trials on all of them."""
    folds = fold_off(toy_train, None, 0)
    found = tune(folds, Wish(budget=Budget(trials=20)), RUNTIME)
    at_first = [one for one in found.trials if one.judged == len(folds[0].held_out)]
    assert {one.judged for one in found.last} == {sum(len(fold.held_out) for fold in folds)}
    assert found.chosen in found.last
    assert found.chosen_at_first in at_first
    finalists = list(dict.fromkeys(found.space.trained(one.setting) for one in found.last))
    assert len(finalists) == 8
    best = max(at_first, key=lambda one: one.score.value).setting
    presets = [found.space.trained(one) for one in found.space.presets().values()]
    assert {found.space.trained(best), *presets} <= set(finalists)
    assert found.trainings == 12 + 8 * 3


def test_nothing_is_kept_back_once_all_texts_are_learned_from(
    toy_train: Dataset, toy_test: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100 seconds, trials of 20 that may take a fifth more: the fourth still fits."""
    now, run = [0.0], Bench.run

    def slow(self: Bench, space: Space, setting: Setting) -> list[Trial]:
        now[0] += 20
        return [replace(trial, seconds=20.0) for trial in run(self, space, setting)]

    monkeypatch.setattr(Bench, "run", slow)
    wish = Wish(budget=Budget(100, clock=lambda: now[0]))
    assert tune([Fold(toy_train, toy_test)], wish, RUNTIME).trainings == 4


def test_time_ends_it(toy_train: Dataset, toy_test: Dataset) -> None:
    """A clock that jumps after some looks at it: the trials until then decide."""
    looks = iter(range(1_000_000))
    wish = Wish(budget=Budget(100, clock=lambda: 0.0 if next(looks) < 60 else 1000.0))
    found = tune([Fold(toy_train, toy_test)], wish, RUNTIME)
    assert 1 <= found.trainings < 40
    assert found.chosen in found.trials


def test_ctrl_c_keeps_the_best_so_far(toy_train: Dataset, toy_test: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Setting] = []
    run = Bench.run

    def impatient(self: Bench, space: Space, setting: Setting) -> list[Trial]:
        if len(done) == 4:
            raise KeyboardInterrupt
        done.append(setting)
        return run(self, space, setting)

    monkeypatch.setattr(Bench, "run", impatient)
    found = search(toy_train, toy_test, 16)
    assert found.interrupted
    assert found.trainings == 4
    monkeypatch.setattr(Bench, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        search(toy_train, toy_test, 16)

"""The record of a search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treetop.apps.tuning import Budget, Outcome, Wish, tune
from treetop.apps.tuning.folds import Fold
from treetop.apps.tuning.journal import Journal
from treetop.apps.tuning.space import space_for
from treetop.apps.tuning.trial import Trial
from treetop.data import Dataset
from treetop.errors import ConfigError, StoreError
from treetop.metrics import Spread
from treetop.runtime import Runtime

FACTS = {"seed": 3, "metrics": ["p@1"]}


def never() -> list[Trial]:
    raise AssertionError("this trial is in the record")


def test_what_was_done_is_not_done_again(outcome: Outcome, tmp_path: Path) -> None:
    path, (first, second) = tmp_path / "r.toml.trials", outcome.trials[:2]
    now = [0.0]
    budget = Budget(60, clock=lambda: now[0])
    now[0] = 7.5
    Journal(path, FACTS).trials(400, (0, 1), lambda: [first, second], budget)
    later = Budget(60, clock=lambda: 1000.0)
    again = Journal(path, FACTS, resume=True).trials(400, (0, 1), never, later)
    assert later.spent == 7.5  # its time was spent before
    assert [one.setting for one in again] == [first.setting, second.setting]
    for one, other in zip(again, (first, second), strict=True):
        assert (one.metrics, one.weights, one.seconds) == (other.metrics, other.weights, other.seconds)
        assert one.score.value == other.score.value
        np.testing.assert_array_equal(one.score.each, other.score.each)


def test_a_line_that_was_cut_off_is_done_again(outcome: Outcome, tmp_path: Path) -> None:
    path = tmp_path / "r.toml.trials"
    journal = Journal(path, FACTS)
    for number in range(2):
        journal.trials(400, (number,), lambda: [outcome.trials[0]], Budget())
    path.write_bytes(path.read_bytes()[:-20])
    again = Journal(path, FACTS, resume=True)
    again.trials(400, (0,), never, Budget())
    assert again.trials(400, (1,), lambda: [outcome.trials[1]], Budget()) == [outcome.trials[1]]
    whole = Journal(path, FACTS, resume=True)
    assert whole.trials(400, (1,), never, Budget())[0].metrics == outcome.trials[1].metrics


def test_a_search_goes_on_where_it_was_cut_off(
    outcome: Outcome, toy_train: Dataset, toy_test: Dataset, tmp_path: Path
) -> None:
    path = tmp_path / "r.toml.trials"

    def search(trials: int, *, resume: bool) -> Outcome:
        wish = Wish(budget=Budget(trials=trials))
        return tune([Fold(toy_train, toy_test)], wish, Runtime(threads=1), Journal(path, FACTS, resume=resume))

    search(9, resume=False)
    lines = path.read_text().splitlines()
    found = search(16, resume=True)
    assert path.read_text().splitlines()[: len(lines)] == lines
    assert [one.setting for one in found.trials] == [one.setting for one in outcome.trials]
    assert found.chosen.setting == outcome.chosen.setting


def test_records_of_other_searches(tmp_path: Path) -> None:
    path = tmp_path / "r.toml.trials"
    Journal(path, FACTS)
    with pytest.raises(ConfigError, match="go on with --resume, or remove it"):
        Journal(path, FACTS)
    with pytest.raises(ConfigError, match="seed was 3, now it is 4"):
        Journal(path, FACTS | {"seed": 4}, resume=True)
    facts = '{"seed": 3, "metrics": ["p@1"]}\n'
    for damage in ("", "not json\n", "[1]\n", "[" * 5000 + "\n", facts + '{"trained": [1]}\n', facts + "[]\n"):
        path.write_text(damage)
        with pytest.raises(StoreError, match="no record of a search"):
            Journal(path, FACTS, resume=True)


@pytest.mark.parametrize(
    ("written", "damaged"),
    [
        ('"texts": 400', '"texts": []'), ('"texts": 400', '"texts": 1e9'), ('"score": ', '"score": NaN, "x": '),
        ('"seconds": ', '"seconds": -1, "x": '), ('"each": "', '"each": "!'), ('"p@1": ', '"p@1": "a", "x": '),
        ('"spent": ', '"spent": NaN, "x": '), ('"fold": ', '"fold": [], "x": '),
        ('"weights": ', f'"weights": {10**400}, "x": '), ('"setting": [', '"setting": [0.5, '),
    ],
)  # fmt: skip
def test_damaged_trials_are_refused(outcome: Outcome, tmp_path: Path, written: str, damaged: str) -> None:
    path = tmp_path / "r.toml.trials"
    Journal(path, FACTS).trials(400, (0,), lambda: [replace(outcome.trials[0], texts=400)], Budget())
    content = path.read_text()
    assert written in content
    path.write_text(content.replace(written, damaged))
    with pytest.raises(StoreError, match="no record of a search"):
        Journal(path, FACTS, resume=True)


@pytest.mark.parametrize(
    "change", [{"setting": (99, 99)}, {"metrics": {"p@7": 0.5}}, {"score": Spread(0.5, np.zeros(3))}]
)
def test_trials_of_another_search_are_refused(
    outcome: Outcome, toy_train: Dataset, toy_test: Dataset, tmp_path: Path, change: dict[str, Any]
) -> None:
    path, wish = tmp_path / "r.toml.trials", Wish(budget=Budget(trials=16))
    first = outcome.trials[0]
    strange = replace(first, **change)
    journal = Journal(path, FACTS)
    setting = space_for(toy_train).trained(space_for(toy_train).default)
    journal.trials(first.texts, setting, lambda: [strange], Budget())
    with pytest.raises(StoreError, match="not of this search"):
        tune([Fold(toy_train, toy_test)], wish, Runtime(threads=1), Journal(path, FACTS, resume=True))

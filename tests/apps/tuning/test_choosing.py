"""From data to settings."""

from __future__ import annotations

import numpy as np
import pytest

from treetop.apps.tuning.choosing import FEWEST, choose, encoder_of, wish_of
from treetop.apps.tuning.limits import Limits
from treetop.data import Dataset
from treetop.errors import ConfigError
from treetop.methods.xr_linear import XRLinearConfig
from treetop.runtime import Runtime

RUNTIME = Runtime(threads=1)


def test_few_texts_get_the_default(toy_train: Dataset) -> None:
    few = choose(toy_train.take(range(FEWEST - 1)), None, wish_of(trials=3), RUNTIME)
    assert (few.settings, few.method, few.outcome) == (XRLinearConfig(), "xr-linear", None)
    enough = choose(toy_train.take(range(FEWEST)), None, wish_of(trials=3), RUNTIME)
    assert enough.outcome is not None
    assert enough.outcome.trainings == 5  # two trials, and the better one on three more folds
    assert enough.held_out == FEWEST * 4 // 5
    assert enough.config == enough.outcome.space.config(enough.outcome.chosen.setting)


def test_several_processes_are_refused(toy_train: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ConfigError, match="would choose different settings"):
        choose(toy_train, None, wish_of(trials=3), RUNTIME)


def test_wishes_in_words() -> None:
    assert wish_of().metrics == ("p@1", "p@3", "p@5")
    assert wish_of(budget="2m").budget.seconds == 120
    assert wish_of(trials=5, metrics="ndcg@5, psp@3").metrics == ("ndcg@5", "psp@3")
    for wrong, said in (
        ({"metrics": "p@1,best@5"}, "there is no metric 'best@5'"),
        ({"metrics": "coverage@5"}, "cannot be chosen by coverage@5"),
        ({"budget": "soon"}, "give a time above zero"),
        ({"budget": "5m", "trials": 3}, "both given"),
    ):
        with pytest.raises(ConfigError, match=said):
            wish_of(**wrong)


def test_an_encoder_that_is_installed_joins_where_time_is_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treetop.apps.tuning.encoded.find_spec", lambda _: None)
    assert encoder_of(None, wish_of()) is None
    monkeypatch.setattr("treetop.apps.tuning.encoded.find_spec", lambda _: object())
    assert encoder_of(None, wish_of()) == "minilm"
    assert encoder_of("none", wish_of()) is None
    assert encoder_of(None, wish_of(trials=5)) is None
    assert encoder_of(None, wish_of(limits=Limits(megabytes=10))) is None


def test_settings_can_be_chosen_by_other_metrics(toy_train: Dataset) -> None:
    found = choose(toy_train, None, wish_of(trials=3, metrics="psp@1,ndcg@5"), RUNTIME).outcome
    assert found is not None
    assert list(found.chosen.metrics) == ["psp@1", "ndcg@5"]
    assert np.isclose(found.chosen.score.value, np.mean(list(found.chosen.metrics.values())))

"""What a model may cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from treetop.apps.tuning import Budget, Outcome, Wish, tune
from treetop.apps.tuning.choosing import choose, wish_of
from treetop.apps.tuning.folds import Fold
from treetop.apps.tuning.limits import Limits
from treetop.data import Dataset
from treetop.errors import ConfigError
from treetop.methods.xr_linear import XRLinear
from treetop.runtime import Runtime
from trials import trial

RUNTIME = Runtime(threads=1)


def test_the_limit_that_is_exceeded_most_counts() -> None:
    one = trial((0,), [1.0], weights=30, seconds=4, megabytes=2)
    assert Limits().excess(one) == 0
    assert Limits(weights=30, cpu_seconds=8).excess(one) == 1
    assert Limits(weights=60, megabytes=0.5).excess(one) == 4
    assert Limits(milliseconds=0.5).excess(replace(one, milliseconds=1.0)) == 2


def test_all_but_the_time_of_a_text_grows_with_the_texts() -> None:
    limits = Limits(weights=100, megabytes=10, cpu_seconds=5, milliseconds=1)
    assert limits.scaled(0.5) == Limits(weights=50, megabytes=5, cpu_seconds=2.5, milliseconds=1)
    assert str(Limits(megabytes=1500, milliseconds=0.25)) == "1,500 MB, 0.25 ms for a text"
    with pytest.raises(ConfigError, match="the limit of 0 MB leaves no model"):
        Limits(megabytes=0)


def test_megabytes_are_those_of_the_folder(outcome: Outcome, toy_train: Dataset) -> None:
    import tempfile
    from pathlib import Path

    setting = outcome.chosen
    model = XRLinear(outcome.space.config(setting.setting), runtime=RUNTIME).fit(toy_train)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m")
        stored = sum(path.stat().st_size for path in Path(folder).rglob("*.safetensors"))
    assert setting.megabytes == pytest.approx(stored / 1e6, abs=0.01)  # headers of files


def test_what_is_too_large_is_not_chosen(outcome: Outcome, toy_train: Dataset, toy_test: Dataset) -> None:
    """A limit between the smallest model and the chosen one."""
    sizes = sorted(one.megabytes for one in outcome.last)
    limits = Limits(megabytes=(sizes[0] + sizes[-1]) / 2)
    found = tune([Fold(toy_train, toy_test)], Wish(budget=Budget(trials=16), limits=limits), RUNTIME)
    assert found.keeps
    assert found.chosen.megabytes <= limits.megabytes < sizes[-1]  # type: ignore[operator]
    tight = tune([Fold(toy_train, toy_test)], Wish(budget=Budget(trials=3), limits=Limits(megabytes=1e-6)), RUNTIME)
    assert not tight.keeps
    assert tight.chosen.megabytes == min(one.megabytes for one in tight.last)


def test_later_rounds_leave_out_what_is_too_large(
    toy_train: Dataset, toy_test: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treetop.apps.tuning.search._FIRST", (100, 100))

    def search(limits: Limits) -> Outcome:
        return tune([Fold(toy_train, toy_test)], Wish(budget=Budget(trials=20), limits=limits), RUNTIME)

    free = search(Limits())
    default, accurate = free.space.default, free.space.presets()["accurate"]
    sizes = {one.setting: one.weights for one in free.last}
    assert sizes[accurate] > 1.5 * sizes[default]
    found = search(Limits(weights=1.2 * sizes[default]))
    first = [[one.setting for one in outcome.trials if one.texts == 100] for outcome in (free, found)]
    assert first[0] == first[1]
    tried = {one.setting for one in found.last}
    assert default in tried
    assert accurate not in tried


def test_one_text_is_clocked_where_that_is_limited(toy_train: Dataset, toy_test: Dataset, outcome: Outcome) -> None:
    wish = Wish(budget=Budget(trials=2), limits=Limits(milliseconds=1e6))
    assert all(one.milliseconds > 0 for one in tune([Fold(toy_train, toy_test)], wish, RUNTIME).trials)
    assert all(one.milliseconds == 0 for one in outcome.trials)


def test_limits_are_for_all_texts_and_for_linear_models(toy_train: Dataset) -> None:
    found = choose(toy_train, None, wish_of(trials=2, limits=Limits(weights=1e6)), RUNTIME).outcome
    assert found is not None
    assert found.limits.weights == pytest.approx(1e6 * found.texts / len(toy_train))
    with pytest.raises(ConfigError, match="are kept by linear models only"):
        choose(toy_train, None, wish_of(trials=2, limits=Limits(weights=1e6)), RUNTIME, encoder="minilm")

"""Where settings are tried."""

from __future__ import annotations

import pytest

from treetop.apps.tuning.bench import Bench
from treetop.apps.tuning.space import space_for
from treetop.data import Dataset
from treetop.methods.xr_linear import XRLinear
from treetop.metrics import evaluate
from treetop.runtime import Runtime

METRICS = ("p@1", "p@3", "ndcg@5")
RUNTIME = Runtime(threads=1)


@pytest.mark.parametrize("name", ["xr-linear", "accurate", "thorough"])
def test_a_trial_is_the_method_itself(name: str, toy_train: Dataset, toy_test: Dataset) -> None:
    space = space_for(toy_train)
    setting = space.presets()[name]
    found = {one.setting: one for one in Bench(toy_train, toy_test, METRICS, RUNTIME).run(space, setting)}
    model = XRLinear(preset=name, runtime=RUNTIME).fit(toy_train)
    assert found[setting].metrics == evaluate(model.predict(toy_test, 5), toy_test.labels, METRICS)
    assert found[setting].weights == model.describe()["weights"]
    assert set(found) == set(space.rankings(setting))


def test_three_trees_too(toy_train: Dataset, toy_test: Dataset) -> None:
    space = space_for(toy_train)
    setting = space.named({"trees": "3", "tree": "wide"})
    assert setting is not None
    (found, _) = Bench(toy_train, toy_test, METRICS, RUNTIME).run(space, setting)
    model = XRLinear(space.config(setting), runtime=RUNTIME).fit(toy_train)
    assert found.metrics == evaluate(model.predict(toy_test, 5), toy_test.labels, METRICS)


def test_labels_that_no_training_text_has_count_as_missed(toy_train: Dataset, toy_test: Dataset) -> None:
    space, few = space_for(toy_train), toy_train.take(range(12))
    assert (few.frequency == 0).any()
    (found, _) = Bench(few, toy_test, METRICS, RUNTIME).run(space, space.default)
    names = [toy_train.space.names[label] for label in (few.frequency > 0).nonzero()[0].tolist()]
    rows = [[toy_train.space.names[label] for label in few.labels[[row]].indices.tolist()] for row in range(len(few))]
    model = XRLinear(runtime=RUNTIME).fit(few.corpus.texts, rows)
    assert sorted(model.space.names) == sorted(names)
    assert found.metrics == evaluate(model.predict(toy_test, 5), toy_test, METRICS)


def test_features_and_trees_are_shared(toy_train: Dataset, toy_test: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(XRLinear, "grow", _counted(XRLinear.grow, made))
    space, bench = space_for(toy_train), Bench(toy_train, toy_test, METRICS, RUNTIME)
    for answers in ({}, {"negatives": "confused"}, {"costs": "counted"}, {"tree": "wide"}):
        setting = space.named(answers)
        assert setting is not None
        bench.run(space, setting)
    assert len(made) == 2
    first, second = bench.run(space, space.default)[0], bench.run(space, space.default)[0]
    assert first.metrics == second.metrics
    assert len(made) == 2


def _counted(grow: object, made: list[str]) -> object:
    def counting(self: XRLinear, *arguments: object) -> object:
        made.append("tree")
        return grow(self, *arguments)  # type: ignore[operator]

    return counting

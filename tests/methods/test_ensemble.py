from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from treetop.data import Dataset
from treetop.errors import ConfigError, DataError, NotFittedError, StoreError
from treetop.methods import load
from treetop.methods.ensemble import Ensemble, EnsembleConfig, choose
from treetop.methods.one_vs_all import OneVsAll
from treetop.methods.xr_linear import XRLinear
from treetop.metrics.evaluate import dev_score
from treetop.predictions import FUSERS, fuse
from treetop.presets.preset import Preset
from treetop.presets.registry import PRESETS
from treetop.runtime import Runtime


@pytest.fixture(scope="module")
def members(toy_train: Dataset) -> list[XRLinear | OneVsAll]:
    return [XRLinear().fit(toy_train), OneVsAll().fit(toy_train)]


@pytest.mark.parametrize("fuser", FUSERS)
def test_an_ensemble_of_fitted_models_fuses_their_lists(
    fuser: str, members: list[XRLinear | OneVsAll], toy_test: Dataset
) -> None:
    both = Ensemble.of(members, EnsembleConfig(fuser=fuser, depth=20))  # type: ignore[arg-type]
    expected = fuse([member.predict(toy_test, 20) for member in members], fuser, k=5)
    np.testing.assert_array_equal(both.predict(toy_test, 5).labels, expected.labels)
    assert both.training["cpu_seconds"] >= members[0].training["cpu_seconds"]


def test_members_must_fit_together(members: list[XRLinear | OneVsAll], toy_test: Dataset) -> None:
    other = OneVsAll().fit(["one word", "two words"], [["x"], ["y"]])
    with pytest.raises(DataError, match="different labels"):
        Ensemble.of([*members, other])
    with pytest.raises(DataError, match="different labels"):
        choose([*members, other], toy_test)
    with pytest.raises(NotFittedError):
        Ensemble.of([OneVsAll()])
    with pytest.raises(ConfigError, match="at least one member"):
        Ensemble.of([])
    with pytest.raises(ConfigError, match="at least one member"):
        Ensemble().fit(["a"], [["x"]])
    with pytest.raises(ConfigError, match="3 weights for 2 members"):
        Ensemble(members, EnsembleConfig(weights=(1.0, 2.0, 3.0)))
    with pytest.raises(ConfigError, match="depth"):
        EnsembleConfig(depth=0)
    for wrong in ((-1.0, 2.0), (0.0, 0.0), ()):
        with pytest.raises(ConfigError, match="non-negative"):
            EnsembleConfig(weights=wrong)
    with pytest.raises(ConfigError, match="round_robin"):
        EnsembleConfig(fuser="round_robin", weights=(1.0, 2.0))


def test_an_ensemble_knows_the_texts_of_all_its_members(toy_train: Dataset) -> None:
    first, second = toy_train.take(range(250)), toy_train.take(range(150, 400))
    both = Ensemble.of([OneVsAll().fit(first), OneVsAll().fit(second)])
    assert both.trained_on(toy_train).all()  # type: ignore[union-attr]
    assert not both.trained_on(["another"]).any()  # type: ignore[union-attr]
    both.members[0].learned = both.members[1].learned = None
    assert Ensemble.of(both.members).trained_on(toy_train) is None


def test_a_member_that_was_lost_is_missed(members: list[XRLinear | OneVsAll], tmp_path: Path) -> None:
    Ensemble.of(members).save(tmp_path / "both")
    assert load(tmp_path / "both").describe() == {"members": "xr-linear, one-vs-all"}
    shutil.rmtree(tmp_path / "both" / "member-1")
    with pytest.raises(StoreError, match="member-1"):
        load(tmp_path / "both")


def test_held_out_texts_choose_who_votes(
    members: list[XRLinear | OneVsAll], toy_train: Dataset, toy_test: Dataset
) -> None:
    """A member that knows nothing gets no vote, and no fuser that was to choose from does better alone."""
    shuffled = Dataset(toy_train.corpus, toy_train.labels[::-1], toy_train.space)
    misled = XRLinear().fit(shuffled)
    chosen = choose([misled, *members], toy_test)
    assert misled not in chosen.members
    assert chosen.config.weights is not None
    assert len(chosen.config.weights) == len(chosen.members)
    score = dev_score(chosen.predict(toy_test, 50), toy_test.labels)
    assert score >= max(dev_score(member.predict(toy_test, 50), toy_test.labels) for member in members)


def test_a_copy_of_a_member_never_joins(toy_test: Dataset, members: list[XRLinear | OneVsAll]) -> None:
    chosen = choose([members[0], members[0]], toy_test)
    assert chosen.members == [members[0]]
    assert chosen.config.weights == (1.0,)


def test_members_are_trained_by_the_names_of_presets_and_methods(
    toy_train: Dataset, toy_test: Dataset, tmp_path: Path
) -> None:
    config = EnsembleConfig(members=("thorough", "one-vs-all", "xr-linear"), dev_share=0.2)
    model = Ensemble(config).fit(toy_train)
    assert model.config.weights is not None
    assert len(model.config.weights) == len(model.members) <= 3
    asked = {member.name for member in model.members}
    assert asked <= {"xr-linear", "one-vs-all"}
    assert dev_score(model.predict(toy_test, k=5), toy_test.labels) > 0.5
    model.save(tmp_path / "model")
    found = load(tmp_path / "model").predict(toy_test)
    np.testing.assert_array_equal(found.labels, model.predict(toy_test).labels)
    same = Ensemble(EnsembleConfig(members=("thorough", "one-vs-all"))).fit(toy_train)
    assert same.config.weights is None
    assert len(same.members) == 2
    with pytest.raises(ConfigError, match="dev_share"):
        EnsembleConfig(dev_share=1.0)
    with pytest.raises(ConfigError, match="bonzai"):
        Ensemble(EnsembleConfig(members=("bonzai",))).fit(toy_train)


def test_no_text_that_votes_are_chosen_by_was_learned_from(toy_train: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[int] = []
    original = OneVsAll._fit

    def spy(self: OneVsAll, train: Dataset) -> None:
        learned.append(len(train))
        original(self, train)

    monkeypatch.setattr(OneVsAll, "_fit", spy)
    Ensemble(EnsembleConfig(members=("one-vs-all",), dev_share=0.25)).fit(toy_train)
    assert learned == [round(0.75 * len(toy_train))]


def test_a_member_that_has_learned_does_not_learn_again_when_the_others_are_resumed(
    toy_train: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs the extra 'neural'")
    from tiny_methods import encoder
    from treetop.neural import training

    settings = {"encoder": {"max_tokens": 32, "reader": "torch"}}
    monkeypatch.setitem(PRESETS, "tiny", Preset("tiny", "lightxml", "small", "these tests", settings))
    steps: list[int] = []
    take_step, fit = training._Run.take_step, OneVsAll._fit

    def count(self: training._Run) -> None:
        steps.append(self.step)
        take_step(self)

    def stop(self: OneVsAll, train: Dataset) -> None:
        raise InterruptedError

    config, runtime = EnsembleConfig(members=("tiny", "one-vs-all"), encoder=encoder().name), Runtime(threads=1)
    expected = Ensemble(config, runtime=runtime).fit(toy_train).predict(toy_train)
    monkeypatch.setattr(training._Run, "take_step", count)
    monkeypatch.setattr(OneVsAll, "_fit", stop)
    with pytest.raises(InterruptedError):
        Ensemble(config, runtime=runtime, checkpoint=tmp_path / "run").fit(toy_train)
    assert steps
    steps.clear()
    monkeypatch.setattr(OneVsAll, "_fit", fit)
    found = Ensemble(config, runtime=runtime, checkpoint=tmp_path / "run").fit(toy_train).predict(toy_train)
    assert not steps
    np.testing.assert_array_equal(found.scores, expected.scores)
    assert (tmp_path / "run" / "run.json").exists()  # by which the command line knows what it is

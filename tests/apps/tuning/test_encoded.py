"""An encoder as it is, beside the chosen features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tiny_methods
from treetop.apps.tuning.choosing import Chosen, choose, wish_of
from treetop.apps.tuning.encoded import untuned
from treetop.apps.tuning.recipe import recipe
from treetop.apps.tuning.tables import say_chosen
from treetop.data import Dataset
from treetop.errors import ConfigError
from treetop.methods.resolving import decide
from treetop.methods.xr_linear import XRLinearConfig
from treetop.methods.xr_transformer import XRTransformerConfig
from treetop.runtime import Runtime

RUNTIME = Runtime(threads=1)


def test_an_encoder_is_tried_with_the_chosen_features(
    toy_train: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = tiny_methods.encoder()  # which reads fewer tokens than the default

    def small(name: str, linear: XRLinearConfig) -> XRTransformerConfig:
        assert name == tiny.name
        return replace(untuned(name, linear), encoder=tiny)

    monkeypatch.setattr("treetop.apps.tuning.encoded.untuned", small)
    chosen = choose(toy_train, None, wish_of(trials=3), RUNTIME, encoder=tiny.name)
    assert chosen.encoded is not None
    assert chosen.encoded.metrics is not None
    assert chosen.encoded.metrics["p@1"] > 0.4
    assert chosen.encoded.config.tfidf == chosen.config.tfidf
    assert chosen.method == ("xr-transformer" if chosen.encoded.pays else "xr-linear")
    path = tmp_path / "r.toml"
    path.write_text(recipe(chosen, "toy", 0))
    assert decide(config_file=str(path)) == (chosen.method, chosen.settings)
    assert "# With the encoder, not tuned: P@1/3/5" in path.read_text()
    say_chosen(chosen, len(toy_train))


def test_an_encoder_that_is_not_there_is_told_of_before_the_search(toy_train: Dataset) -> None:
    budget = wish_of(trials=3)
    with pytest.raises(ConfigError, match="cannot be loaded"):
        choose(toy_train, None, budget, RUNTIME, encoder="no/such-folder")
    assert budget.budget.done == 0


def test_its_settings_tune_nothing_and_are_a_recipe(tmp_path: Path) -> None:
    config = untuned("minilm", XRLinearConfig())
    assert config.optim.epochs == 0
    path = tmp_path / "r.toml"
    lines = ['method = "xr-transformer"', 'bootstrap = "none"', "[encoder]", 'name = "minilm"', "[optim]", "epochs = 0"]
    path.write_text("\n".join([*lines, "[coarse_tree]", "max_leaf = 1000000", "[fine_tree]", "branching = 16"]))
    assert decide(config_file=str(path)) == ("xr-transformer", config)
    assert Chosen(XRLinearConfig(), None, 0).method == "xr-linear"

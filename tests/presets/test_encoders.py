from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="needs the extra 'neural'")

from tiny_methods import encoder
from treetop.data import Dataset
from treetop.errors import ConfigError
from treetop.methods.ensemble import Ensemble
from treetop.methods.resolving import resolve
from treetop.methods.xr_transformer import XRTransformer
from treetop.metrics import evaluate
from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.reading.torch_reader import TorchReader
from treetop.text.tokens import Padded
from treetop.types import Dense


def test_instant_reads_every_text_once_and_leaves_the_encoder_as_it_is(
    toy_train: Dataset, toy_test: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, original = [], TorchReader.read

    def spy(self: TorchReader, batch: Padded) -> Dense:
        read.append(batch.texts)
        return original(self, batch)

    monkeypatch.setattr(TorchReader, "read", spy)
    config = replace(resolve("xr-transformer", preset_name="instant"), encoder=encoder())
    model = XRTransformer(config, runtime=Runtime(threads=1)).fit(toy_train)
    assert sum(read) == len(toy_train)
    assert model.text_encoder.digest() == TextEncoder.load(encoder()).digest()
    assert evaluate(model.predict(toy_test, k=5), toy_test.labels, ["p@1"])["p@1"] > 0.9


def test_presets_fit_any_encoder_and_members_of_the_best_are_known() -> None:
    tuned = resolve("xr-transformer", preset_name="tuned", encoder="some-encoder")
    assert (tuned.encoder.name, tuned.encoder.frozen(12), tuned.encoder.frozen(6)) == ("some-encoder", 10, 4)
    best = resolve("ensemble", preset_name="best", encoder="some-encoder")
    made = [Ensemble(best)._named(name, 0) for name in best.members]
    encoders = [getattr(member.config, "encoder", None) for member in made]
    assert [None if one is None else one.name for one in encoders] == [None, "some-encoder", "some-encoder"]
    with pytest.raises(ConfigError, match="no encoder"):
        resolve("ensemble", encoder="some-encoder")


def test_tuned_learns(toy_train: Dataset, toy_test: Dataset) -> None:
    settings = resolve("xr-transformer", preset_name="tuned", assignments=("steps=[4,4]", "optim.lr=6e-3"))
    config = replace(settings, encoder=replace(encoder(), freeze=-1, keep_frozen=True))
    model = XRTransformer(config, runtime=Runtime(threads=1)).fit(toy_train)
    assert model.text_encoder.digest() != TextEncoder.load(encoder()).digest()
    assert evaluate(model.predict(toy_test, k=5), toy_test.labels, ["p@1"])["p@1"] > 0.9

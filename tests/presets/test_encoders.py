from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="needs the extra 'neural'")

from tiny_methods import encoder
from treetop.data import Dataset
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

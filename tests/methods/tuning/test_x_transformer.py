from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tiny_methods import encoder
from treetop.data import Dataset
from treetop.methods.tuning.x_transformer import Network
from treetop.methods.x_transformer import XTransformerConfig
from treetop.neural.examples import Batch, Examples
from treetop.sparse import canonical
from treetop.text.encoder import TextEncoder


@pytest.mark.parametrize("targets", ["binary", "count"])
def test_the_loss_is_the_squared_hinge_of_eq_3(targets: Any, toy_train: Dataset) -> None:
    config = XTransformerConfig(encoder=encoder(), targets=targets, dropout=0.0)
    network = Network(config, TextEncoder.load(config.encoder), 3).eval()
    tokens = network.encoder.tokenize(toy_train.corpus.texts[:2])
    true = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 1.0]], np.float32)
    batch: Batch = Examples(tokens, [canonical(true)]).batch(np.arange(2))
    margin = network.logits(batch.tokens).detach().numpy()
    sign = 2 * (true if targets == "count" else np.minimum(true, 1)) - 1
    assert float(network.loss(batch).detach()) == pytest.approx(
        np.mean(np.maximum(0, 1 - sign * margin) ** 2), rel=1e-5
    )

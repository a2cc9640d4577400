from __future__ import annotations

import logging

import numpy as np

from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.reading.graph import Graph, exporting, tensors
from treetop.text.reading.torch_reader import TorchReader
from treetop.text.tokens import Tokens


def test_a_graph_is_the_encoder_with_its_pooling(encoder: TextEncoder, tokens: Tokens) -> None:
    batch = tokens.pad(np.arange(5))
    with exporting(encoder):
        states = Graph(encoder, (1, 2))(**tensors(batch)).numpy()
    np.testing.assert_allclose(states, TorchReader(encoder, (1, 2), Runtime(threads=1)).read(batch), atol=1e-6)


def test_exporting_leaves_things_as_they_were(encoder: TextEncoder) -> None:
    encoder.train()
    level = logging.getLogger("transformers").level
    with exporting(encoder):
        learns = encoder.training
    was = encoder.training
    encoder.eval()
    assert (learns, was) == (False, True)
    assert logging.getLogger("transformers").level == level

from __future__ import annotations

import numpy as np

from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.reading import read_states
from treetop.text.reading.torch_reader import TorchReader
from treetop.text.tokens import Tokens


def test_states_are_the_encoders(encoder: TextEncoder, tokens: Tokens) -> None:
    states = read_states(TorchReader(encoder, (1, 2), Runtime(threads=1)), tokens, Runtime(threads=1))
    assert states.shape == (len(tokens), 2 * encoder.width)
    for place, layer in enumerate((1, 2)):
        expected = encoder.embed(tokens, Runtime(threads=1), layer=layer)
        np.testing.assert_allclose(np.split(states, 2, axis=1)[place], expected, atol=1e-6)


def test_pieces_of_a_text_are_averaged(encoder: TextEncoder, tokens: Tokens) -> None:
    long = int(np.argmax(tokens.pieces()))
    assert tokens.pieces()[long] == 2
    batch = tokens.pad(np.array([long]))
    pieces = TorchReader(encoder, (2,), Runtime(threads=1)).read(batch)
    states = read_states(
        TorchReader(encoder, (2,), Runtime(threads=1)), tokens.take(np.array([long])), Runtime(threads=1)
    )
    assert pieces.shape == (2, encoder.width)
    np.testing.assert_allclose(states[0], pieces.mean(0), rtol=1e-5)

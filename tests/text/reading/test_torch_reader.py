from __future__ import annotations

from reading_helpers import ONE
from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.reading import read_states
from treetop.text.reading.torch_reader import EncoderReader, TorchReader
from treetop.text.tokens import Tokens


def test_no_texts(encoder: TextEncoder) -> None:
    reader = EncoderReader(encoder, (2,), Runtime(threads=1))
    assert reader.read(reader.tokenize([]), ONE).shape == (0, encoder.width)


def test_the_encoder_goes_on_learning_where_it_was(encoder: TextEncoder, tokens: Tokens) -> None:
    encoder.train()
    read_states(TorchReader(encoder, (2,), Runtime(threads=1)), tokens, ONE)
    was = encoder.training
    encoder.eval()
    assert was


def test_it_is_the_encoder_itself(encoder: TextEncoder) -> None:
    reader = EncoderReader(encoder, (1, 2), Runtime(threads=1))
    assert reader.text_encoder() is encoder
    assert (reader.reader.width, reader.width, reader.depth) == (2 * encoder.width, encoder.width, 2)

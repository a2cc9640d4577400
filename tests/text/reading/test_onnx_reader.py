from __future__ import annotations

import logging

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="needs the extra 'onnx'")
pytest.importorskip("onnx", reason="needs the extra 'onnx'")

from reading_helpers import ONE, asking, both, states_of
from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.reading.choosing import export_reader
from treetop.text.reading.torch_reader import EncoderReader
from treetop.text.tokens import Tokens


def test_exporting_leaves_the_logging_on(encoder: TextEncoder, tokens: Tokens, texts: list[str]) -> None:
    reader = export_reader(asking(encoder, reader="onnx"), both, tokens, ONE)
    assert reader.reader.name == "onnx"
    assert logging.getLogger().isEnabledFor(logging.WARNING)
    expected = states_of(EncoderReader(encoder, (1, 2), Runtime(threads=1)), texts)
    np.testing.assert_allclose(states_of(reader, texts), expected, atol=0.1)

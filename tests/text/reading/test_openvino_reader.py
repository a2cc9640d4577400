from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("nncf", reason="needs the extra 'openvino'")

from reading_helpers import ONE, asking, both, states_of
from treetop.text.encoder import TextEncoder
from treetop.text.reading.choosing import export_reader
from treetop.text.reading.text_reader import FolderReader
from treetop.text.tokens import Tokens


@pytest.fixture(scope="module")
def reader(encoder: TextEncoder, tokens: Tokens) -> FolderReader:
    root = logging.getLogger()
    before = (root.level, [(handler, handler.level) for handler in root.handlers])
    made = export_reader(asking(encoder, reader="openvino", reader_precision="float32"), both, tokens, ONE)
    after = (root.level, [(handler, handler.level) for handler in root.handlers])
    assert after == before  # the tools of OpenVINO would raise the levels
    assert isinstance(made, FolderReader)
    return made


def test_several_threads_share_a_reader(reader: FolderReader, texts: list[str]) -> None:
    expected = states_of(reader, texts)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: states_of(reader, texts), range(8)):
            np.testing.assert_array_equal(found, expected)


def test_nothing_is_reported(reader: FolderReader) -> None:
    telemetry = pytest.importorskip("openvino_telemetry")
    assert not telemetry.Telemetry("treetop", "1", "none").consent  # as it was set up when the encoder was exported


def test_states_do_not_depend_on_neighbours(reader: FolderReader, texts: list[str], tmp_path: Path) -> None:
    one = states_of(reader, texts[7:8])
    np.testing.assert_allclose(states_of(reader, texts)[7:8], one, atol=1e-5)

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from reading_helpers import ONE, asking, both, states_of
from tiny_encoders import make_encoder
from treetop.errors import MissingExtraError, StoreError
from treetop.runtime import Runtime
from treetop.text.encoder import EncoderConfig, TextEncoder
from treetop.text.reading import choosing, safety
from treetop.text.reading.choosing import agreement, check_installed, export_reader, open_reader
from treetop.text.reading.engines import ENGINES, Engine
from treetop.text.reading.text_reader import FolderReader
from treetop.text.reading.torch_reader import EncoderReader
from treetop.text.tokens import Tokens

EXACT = 1e-5


def test_int8_agrees_with_torch(exported: FolderReader, engine: str, encoder: TextEncoder, texts: list[str]) -> None:
    states, expected = states_of(exported, texts), states_of(EncoderReader(encoder, (1, 2), Runtime(threads=1)), texts)
    assert exported.reader.name == engine
    assert agreement(states, expected) > 0.99
    assert not np.allclose(states, expected, atol=EXACT)  # it does compute in 8 bits


def test_a_saved_reader_gives_the_same_states(exported: FolderReader, texts: list[str], tmp_path: Path) -> None:
    exported.save(tmp_path / "encoder")
    opened = open_reader(exported.config, tmp_path / "encoder", both, ONE)
    assert isinstance(opened, FolderReader)
    assert (opened.depth, opened.width) == (exported.depth, exported.width)
    np.testing.assert_array_equal(states_of(opened, texts), states_of(exported, texts))


def test_the_weights_beside_it_stay_an_encoder(exported: FolderReader, texts: list[str], tmp_path: Path) -> None:
    exported.save(tmp_path / "encoder")
    opened = open_reader(replace(exported.config, reader="torch"), tmp_path / "encoder", both, ONE)
    assert isinstance(opened, EncoderReader)
    assert agreement(states_of(exported, texts), states_of(opened, texts)) > 0.99


@pytest.mark.parametrize(("family", "pooling"), [("bert", "pooler"), ("xlnet", "token"), ("roberta", "token")])
def test_other_families_and_poolings(engine: str, family: str, pooling: Any, texts: list[str], tmp_path: Path) -> None:
    folder = make_encoder(tmp_path / family, texts, family=family, layers=2)
    options: Any = {"reader": engine, "reader_precision": "float32", "pooling": pooling, "max_tokens": 16}
    encoder = TextEncoder.load(EncoderConfig(name=str(folder), **options)).eval()
    reader = export_reader(encoder, both, encoder.tokenize(texts), ONE)
    assert reader.reader.name == engine
    np.testing.assert_allclose(
        states_of(reader, texts), states_of(EncoderReader(encoder, (1, 2), Runtime(threads=1)), texts), atol=EXACT
    )


def test_torch_if_that_is_asked_for(encoder: TextEncoder, tokens: Tokens) -> None:
    reader = export_reader(asking(encoder, reader="torch"), both, tokens, ONE)
    assert isinstance(reader, EncoderReader)


def test_an_engine_that_is_not_here(
    encoder: TextEncoder, tokens: Tokens, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(ENGINES, "openvino", Engine("no", "No", ("no_such_package",), ()))
    monkeypatch.setitem(ENGINES, "onnx", Engine("no", "No", ("no_such_package",), ()))
    with pytest.raises(MissingExtraError, match=r"treetop-xmc\[openvino\]"):
        check_installed(EncoderConfig(reader="openvino"))
    check_installed(EncoderConfig(reader="auto"))
    with caplog.at_level(logging.WARNING, "treetop"):
        assert isinstance(export_reader(asking(encoder, reader="auto"), both, tokens, ONE), EncoderReader)
    assert not caplog.records  # nobody asked for it


def one_warning(caplog: pytest.LogCaptureFixture, words: str) -> None:
    messages = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(messages) == 1
    assert words in messages[0]


def test_states_that_disagree_are_not_used(
    engine: str,
    encoder: TextEncoder,
    tokens: Tokens,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(choosing, "AGREES", 1.01)
    asked = asking(encoder, reader=engine, reader_precision="float32")
    assert isinstance(export_reader(asked, both, tokens, ONE), EncoderReader)
    one_warning(caplog, "agree with torch's to 1.00 only")


def test_an_engine_that_kills_the_process_is_not_used(
    engine: str,
    encoder: TextEncoder,
    tokens: Tokens,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(safety, "_answer", lambda name: None)
    assert isinstance(export_reader(asking(encoder, reader=engine), both, tokens, ONE), EncoderReader)
    one_warning(caplog, "not safe on this processor")


class Stubborn(torch.nn.Module):
    """An encoder that no engine can take: it looks at the values of its input."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model, self.config = model, model.config
        self.save_pretrained = model.save_pretrained

    def forward(self, **inputs: Any) -> Any:
        if torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
            raise ValueError("this encoder cannot be traced")
        return self.model(**inputs)


def test_an_encoder_that_cannot_be_exported(
    engine: str, encoder: TextEncoder, tokens: Tokens, caplog: pytest.LogCaptureFixture
) -> None:
    stubborn = TextEncoder(replace(encoder.config, reader=engine), Stubborn(encoder.model), encoder.tokenizer)  # type: ignore[arg-type]
    assert isinstance(export_reader(stubborn, both, tokens, ONE), EncoderReader)
    one_warning(caplog, engine)


def test_a_damaged_graph_is_not_used(
    exported: FolderReader, texts: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exported.save(tmp_path / "encoder")
    graph = max((tmp_path / "encoder" / exported.reader.name).iterdir(), key=lambda file: file.stat().st_size)
    content = bytearray(graph.read_bytes())
    content[len(content) // 2] ^= 1
    graph.write_bytes(content)
    opened = open_reader(exported.config, tmp_path / "encoder", both, ONE)
    assert isinstance(opened, EncoderReader)
    one_warning(caplog, "damaged")
    assert agreement(states_of(exported, texts), states_of(opened, texts)) > 0.99


def test_a_folder_without_an_encoder(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a complete model"):
        open_reader(EncoderConfig(), tmp_path / "encoder", both, ONE)


def test_agreement_is_of_what_tells_texts_apart() -> None:
    rng = np.random.default_rng(0)
    own = rng.normal(size=(32, 8)).astype(np.float32)
    assert agreement(own, own) == pytest.approx(1)
    assert agreement(own + 100, own + 100) == pytest.approx(1)
    assert abs(agreement(own + 100, rng.permutation(own) + 100)) < 0.9
    assert agreement(np.ones((3, 4), np.float32), np.ones((3, 4), np.float32)) == pytest.approx(1)

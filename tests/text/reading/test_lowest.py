from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'neural'")

from reading_helpers import ONE
from treetop.text.encoder import TextEncoder
from treetop.text.reading import choosing, lowest
from treetop.text.reading.lowest import keep_frozen
from treetop.text.tokens import Padded
from treetop.types import Dense


@pytest.fixture
def frozen(encoder: TextEncoder, engine: str, monkeypatch: pytest.MonkeyPatch) -> TextEncoder:
    monkeypatch.setattr(lowest, "WORTH_EXPORTING", 1)
    config = replace(encoder.config, reader=engine, chunks=1, freeze=1, keep_frozen=True)  # type: ignore[arg-type]
    return TextEncoder.load(config)


def kept(encoder: TextEncoder, texts: list[str]) -> Dense:
    tokens = keep_frozen(encoder, encoder.tokenize(texts), None, ONE)
    assert tokens.states is not None
    return np.asarray(tokens.states.values, np.float32)


def by_torch(encoder: TextEncoder, texts: list[str]) -> Dense:
    return kept(TextEncoder.load(replace(encoder.config, reader="torch")), texts)


def test_frozen_layers_are_read_by_the_engine(
    frozen: TextEncoder, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = by_torch(frozen, texts)
    by_engine: list[int] = []
    original = lowest._Temporary.__call__

    def spy(self: lowest._Temporary, batch: Padded) -> Dense:
        by_engine.append(batch.texts)
        return original(self, batch)

    monkeypatch.setattr(lowest._Temporary, "__call__", spy)
    found = kept(frozen, texts)
    assert sum(by_engine) >= len(texts)
    assert choosing.agreement(found, expected) > choosing.AGREES
    assert not np.array_equal(found, expected)  # 8 bits


def test_what_disagrees_is_read_by_torch(
    frozen: TextEncoder, texts: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(choosing, "AGREES", 1.01)
    with caplog.at_level(logging.WARNING, "treetop"):
        found = kept(frozen, texts)
    assert "agree with torch's" in caplog.text
    np.testing.assert_array_equal(found, by_torch(frozen, texts))


def test_few_texts_are_not_exported_for(frozen: TextEncoder, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowest, "WORTH_EXPORTING", len(texts) + 1)
    monkeypatch.setattr(lowest, "_export", None)
    np.testing.assert_array_equal(kept(frozen, texts), by_torch(frozen, texts))

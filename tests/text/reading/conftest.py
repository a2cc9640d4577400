"""Tiny encoders, their tokens, and one exported for an engine: made once, as exporting takes seconds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from treetop.text.reading.engines import ENGINES

if TYPE_CHECKING:  # some of the tests here run without torch
    from treetop.text.encoder import TextEncoder
    from treetop.text.reading.text_reader import FolderReader
    from treetop.text.tokens import Tokens

WORDS = ["apple", "pie", "cake", "rain", "text", "blue", "red", "green", "law", "tree", "hello", "world"]


@pytest.fixture(scope="session")
def texts() -> list[str]:
    rng = np.random.default_rng(0)
    return ["", *(" ".join(rng.choice(WORDS, rng.integers(1, 30))) for _ in range(59))]


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> TextEncoder:
    from tiny_encoders import make_encoder
    from treetop.text.encoder import EncoderConfig, TextEncoder

    folder = make_encoder(tmp_path_factory.mktemp("tiny"), WORDS, layers=2)
    return TextEncoder.load(EncoderConfig(name=str(folder), max_tokens=16, chunks=2, pooling="mean")).eval()


@pytest.fixture(scope="session")
def tokens(encoder: TextEncoder, texts: list[str]) -> Tokens:
    return encoder.tokenize(texts)


@pytest.fixture(scope="session", params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    if ENGINES[request.param].missing(to_export=True):
        pytest.skip(f"needs the extra '{request.param}'")
    return str(request.param)


@pytest.fixture(scope="session")
def exported(engine: str, encoder: TextEncoder, tokens: Tokens) -> FolderReader:
    from reading_helpers import ONE, asking, both
    from treetop.text.reading.choosing import export_reader
    from treetop.text.reading.text_reader import FolderReader

    reader = export_reader(asking(encoder, reader=engine), both, tokens, ONE)
    assert isinstance(reader, FolderReader)
    return reader


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is remembered of the processor stays out of the user's own folder, and is asked once for all tests."""
    folder = tmp_path_factory.getbasetemp().parent / "treetop-cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reading_helpers import ONE, asking, both
from treetop.text.encoder import TextEncoder
from treetop.text.reading import readings
from treetop.text.reading.readings import Readings
from treetop.text.reading.text_reader import FolderReader, TextReader
from treetop.text.tokens import Tokens


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who read all texts, each time somebody did."""
    who: list[str] = []
    read = TextReader.read

    def noted(self: TextReader, *arguments: Any) -> Any:
        who.append(self.reader.name)
        return read(self, *arguments)

    monkeypatch.setattr(TextReader, "read", noted)
    return who


@pytest.mark.parametrize("changed", [True, False])
def test_texts_are_read_again_if_the_encoder_has_learned(
    encoder: TextEncoder, tokens: Tokens, reads: list[str], changed: bool
) -> None:
    own = Readings(asking(encoder, reader="torch"), both, tokens, ONE)
    first, bias = own.states(), encoder.model.encoder.layer[-1].output.dense.bias
    bias.data[0] += float(changed)
    second = own.states(final=True)
    bias.data[0] -= float(changed)
    assert reads == ["torch"] * (1 + changed)
    assert np.array_equal(first, second) == (not changed)


def test_states_are_found_again(encoder: TextEncoder, tokens: Tokens, reads: list[str], tmp_path: Path) -> None:
    asked = asking(encoder, reader="torch")
    first = Readings(asked, both, tokens, ONE, tmp_path).states()
    np.testing.assert_array_equal(Readings(asked, both, tokens, ONE, tmp_path).states(), first)
    assert reads == ["torch"]
    for file in tmp_path.glob("states-*"):
        file.write_bytes(b"damaged")
    np.testing.assert_array_equal(Readings(asked, both, tokens, ONE, tmp_path).states(), first)
    assert reads == ["torch"] * 2


def test_few_texts_are_exported_for_at_the_end_only(
    engine: str, encoder: TextEncoder, tokens: Tokens, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asking(encoder, reader=engine, reader_precision="float32")
    few = Readings(asked, both, tokens, ONE)
    few.states()
    states = few.states(final=True)
    assert reads == ["torch", engine]
    assert isinstance(few.reader, FolderReader)
    monkeypatch.setattr(readings, "WORTH_EXPORTING", len(tokens))
    many = Readings(asked, both, tokens, ONE)
    np.testing.assert_allclose(many.states(), states, atol=1e-5)
    assert many.states(final=True) is many.states()
    assert reads == ["torch", engine, engine]

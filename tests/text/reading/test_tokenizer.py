from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treetop.errors import StoreError
from treetop.text.encoder import TextEncoder
from treetop.text.reading.tokenizer import FileTokenizer
from treetop.text.tokens import tokenise


def test_the_same_tokens_as_with_transformers(encoder: TextEncoder, texts: list[str], tmp_path: Path) -> None:
    encoder.save(tmp_path)
    odd = [*texts, "Apple PIE, 😀 שלום", "tree " * 50_000]
    expected = encoder.tokenize(odd)
    tokens = tokenise(odd, FileTokenizer(tmp_path), max_tokens=16, chunks=2, frame=expected.frame)
    np.testing.assert_array_equal(tokens.ids, expected.ids)
    np.testing.assert_array_equal(tokens.ptr, expected.ptr)


def test_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(StoreError, match="tokenizer"):
        FileTokenizer(tmp_path)

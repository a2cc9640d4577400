"""The native digests of texts equal their definition in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from treetop import kernels
from treetop.kernels import digests
from treetop.kernels.reference import digests as reference

ALPHABET = "abzABZ@[` .\t\n\v\f\r\x1c\u00a0éÉß\u2003अ😀\ud800\x00"


@given(st.lists(st.text(ALPHABET, max_size=150), max_size=6))
def test_equal_the_definition(texts: list[str]) -> None:
    found = kernels.text_digests(texts)
    assert found.dtype == np.uint64
    assert found.tolist() == reference.text_digests(texts).tolist()


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"", 0xEF46DB3751D8E999),
        (b"a", 0xD24EC4F1A98C6E5B),
        (b"abc", 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_the_hash_is_the_one_that_everybody_knows(content: bytes, value: int) -> None:
    """These numbers are published with XXH64."""
    assert reference.xxh64(content) == value


def test_many_texts_are_done_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"text {number} é" for number in range(10)]
    at_once = kernels.text_digests(texts)
    monkeypatch.setattr(digests, "_TOGETHER", 3)
    assert kernels.text_digests(texts).tolist() == at_once.tolist()


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(AttributeError):
        kernels.text_digests([3])  # type: ignore[list-item]

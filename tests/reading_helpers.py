"""An encoder under other settings, the layers that tests read, and the states of texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.reading.text_reader import TextReader
from treetop.types import Dense

ONE = Runtime(threads=1)


def both(depth: int) -> tuple[int, ...]:
    return (depth - 1, depth)


def asking(encoder: TextEncoder, **options: Any) -> TextEncoder:
    """The same encoder under other settings."""
    return TextEncoder(replace(encoder.config, **options), encoder.model, encoder.tokenizer).eval()


def states_of(reader: TextReader, texts: list[str]) -> Dense:
    return reader.read(reader.tokenize(texts), ONE)

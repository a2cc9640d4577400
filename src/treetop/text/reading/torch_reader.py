"""Reading with torch: the encoder as it is, on whatever device it is, in the runtime's precision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.precision import autocast
from treetop.text.reading.text_reader import TextReader
from treetop.text.threads import threads
from treetop.text.tokens import Padded, Tokens
from treetop.types import Dense, Texts

__all__ = ["EncoderReader", "TorchReader"]


class TorchReader:
    """The states of a `TextEncoder` after the given layers; it follows the encoder as that learns."""

    name = "torch"
    budget = 8192

    def __init__(self, encoder: TextEncoder, layers: Sequence[int], runtime: Runtime) -> None:
        self.encoder, self.layers, self.runtime = encoder, tuple(layers), runtime
        self.width = encoder.width * len(self.layers)

    @torch.no_grad()
    def read(self, batch: Padded) -> Dense:
        """The states of each piece."""
        was_training = self.encoder.training
        self.encoder.eval()
        with threads(self.runtime), autocast(self.runtime):
            try:
                states: Any = self.encoder.pieces(batch, self.layers)
            finally:
                self.encoder.train(was_training)
        joined: Dense = states.transpose(0, 1).flatten(1).float().cpu().numpy()
        return joined


class EncoderReader(TextReader):
    """An encoder in memory, read with torch."""

    def __init__(self, encoder: TextEncoder, layers: Sequence[int], runtime: Runtime) -> None:
        self.encoder = encoder
        super().__init__(encoder.config, TorchReader(encoder, layers, runtime), layers, encoder.layers, encoder.width)

    def tokenize(self, texts: Texts, runtime: Runtime | None = None) -> Tokens:
        """The tokens of the texts."""
        return self.encoder.tokenize(texts, runtime=runtime)

    def text_encoder(self) -> TextEncoder:
        """The same that is read."""
        return self.encoder

    def save(self, path: Path) -> None:
        """A plain Hugging Face folder."""
        self.encoder.save(path)

"""The frozen layers of an encoder, which read every text once: by the engine that reads, if it agrees with torch."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import Tensor, nn

from treetop.runtime import Runtime
from treetop.text.encoder import TextEncoder
from treetop.text.frozen import run_lowest
from treetop.text.reading.choosing import (
    CALIBRATED_ON,
    COMPARED_ON,
    WORTH_EXPORTING,
    check_agrees,
    first_that_works,
)
from treetop.text.reading.engines import ENGINES
from treetop.text.reading.exported import Exported
from treetop.text.reading.graph import exporting, tensors
from treetop.text.reading.reader import Reader
from treetop.text.tokens import Padded, Tokens
from treetop.types import Dense

__all__ = ["keep_frozen"]


def keep_frozen(
    encoder: TextEncoder,
    tokens: Tokens,
    folder: str | PathLike[str] | None,
    runtime: Runtime,
    *,
    lowest_wanted: int = -1,
) -> Tokens:
    """As `TextEncoder.keep_frozen`, read by another engine than torch where that is quicker."""

    def reader() -> _Temporary | None:
        return _lowest_reader(encoder, tokens, runtime)

    return encoder.keep_frozen(tokens, folder, runtime, lowest_wanted=lowest_wanted, reader=reader)


class _Lowest(nn.Module):
    """The frozen layers, from ids, mask and segments to what the last of them makes of every token."""

    def __init__(self, encoder: TextEncoder) -> None:
        super().__init__()
        self.model, self.count = encoder.model, encoder.frozen_layers

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        """The state of every token: (pieces, tokens, width)."""
        inputs = {"input_ids": ids, "attention_mask": mask} | ({} if types is None else {"token_type_ids": types})
        found = run_lowest(self.model, self.count, inputs)
        return found if isinstance(found, Tensor) else found[0]


class _Temporary:
    """A reader from a folder that is there as long as it."""

    def __init__(self, reader: Reader, folder: TemporaryDirectory[str]) -> None:
        self.reader, self.folder = reader, folder

    def __call__(self, batch: Padded) -> Dense:
        """The state of every token: (pieces, tokens, width)."""
        return self.reader.read(batch)


def _lowest_reader(encoder: TextEncoder, tokens: Tokens, runtime: Runtime) -> _Temporary | None:
    """None where torch is to read."""
    if len(tokens) < WORTH_EXPORTING:
        return None
    return first_that_works(encoder.config, runtime, lambda engine: _export(encoder, engine, tokens, runtime))


def _export(encoder: TextEncoder, engine: str, tokens: Tokens, runtime: Runtime) -> _Temporary:
    rows = np.random.default_rng(runtime.seed).permutation(len(tokens))
    sample = [tokens.pad(rows[i : i + 1]) for i in range(min(CALIBRATED_ON, len(rows)))]
    holds, kind = TemporaryDirectory(prefix="treetop-reader-"), ENGINES[engine].load()
    folder, graph = Path(holds.name), _Lowest(encoder)
    about = Exported(
        engine=engine, precision=encoder.config.reader_precision, layers=(graph.count,), depth=encoder.layers,
        width=encoder.width, frame=tokens.frame, limit=encoder.limit,
    )  # fmt: skip
    with exporting(encoder):
        kind.export(graph, sample, about.precision, folder)
    reader = _Temporary(kind(folder, about, runtime.cores, keeps=False), holds)
    compared = [tokens.pad(rows[[i]]) for i in range(-min(COMPARED_ON, len(rows)), 0)]
    own = [_by_torch(graph, batch) for batch in compared]
    check_agrees(np.concatenate([reader(batch)[0] for batch in compared]), np.concatenate(own))
    return reader


@torch.no_grad()
def _by_torch(graph: _Lowest, batch: Padded) -> Dense:
    device = next(graph.parameters()).device
    inputs = {name: tensor.to(device) for name, tensor in tensors(batch).items()}
    states: Dense = graph(**inputs)[0].float().cpu().numpy()
    return states

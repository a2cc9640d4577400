"""The encoder as other engines get it: a torch module from ids, mask and segments to pooled states, side by side."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from treetop.text.encoder import TextEncoder
from treetop.text.tokens import Padded

__all__ = ["Graph", "exporting", "tensors"]


class Graph(nn.Module):
    """An encoder with its pooling, and nothing that depends on how long or how many the texts are."""

    def __init__(self, encoder: TextEncoder, layers: Sequence[int]) -> None:
        super().__init__()
        self.encoder, self.layers = encoder, tuple(layers)

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        """The states of each piece after all layers: (pieces, layers · width)."""
        inputs = {"input_ids": ids, "attention_mask": mask} | ({} if types is None else {"token_type_ids": types})
        return self.encoder.pooled(inputs, self.layers).transpose(0, 1).flatten(1)


def tensors(batch: Padded) -> dict[str, Tensor]:
    """A batch by the names of the graph's inputs."""
    arrays = {"ids": batch.ids, "mask": batch.mask, "types": batch.types}
    return {name: torch.from_numpy(array) for name, array in arrays.items() if array is not None}


@contextmanager
def exporting(encoder: TextEncoder) -> Iterator[None]:
    """A block in which an encoder is traced: on the CPU, without dropout, and without the libraries' remarks on it."""
    device, was_training = encoder.device, encoder.training
    own = logging.getLogger("transformers")
    level = own.level
    encoder.eval().to("cpu")
    own.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            yield
    finally:
        own.setLevel(level)
        encoder.to(device).train(was_training)

"""How much memory fine-tuning takes, before it is begun: a formula, right to about a third.

With P parameters of the encoder (of which those of frozen layers do not learn), heads of R rows × W, and batches of B
texts of T tokens through L layers of width H with A attention heads, in bytes of float32 numbers:

    encoder       4P · 4            weights, gradients and two moments
    heads         4RW · 3           weights and two moments; gradients too where all rows have one at every step;
                                    of a full head (`neural.full_head`) 4R(W + B); divided over N processes, R/N rows
    averages      4(P + RW)         one copy more for each of: weight averaging, the best weights so far
    activations   BTL (68H + 10AT)  twice the half-precision count of Korthikanti et al. (2022), eq. 2; with
                                    `checkpointing` 4BTLH for the layers' inputs, and one layer at a time
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from treetop.neural.settings import OptimConfig
from treetop.text.encoder import EncoderConfig, EncoderSize

__all__ = ["Head", "free_on", "needed_memory"]


@dataclass(frozen=True, slots=True)
class Head:
    """A scorer to be: nodes, numbers per node, and whether only the rows of a batch have gradients, or none has."""

    rows: int
    width: int
    by_rows: bool = True
    full: bool = False


def needed_memory(
    size: EncoderSize,
    encoder: EncoderConfig,
    optim: OptimConfig,
    heads: Sequence[Head],
    *,
    keeps_best: bool = False,
    processes: int = 1,
) -> int:
    """Bytes that fine-tuning needs in one of several processes; `keeps_best` if the best on a dev split are kept."""
    frozen = encoder.frozen(size.layers) / max(1, size.layers)
    learning = size.parameters * (1 - frozen)
    copies = (optim.average != "none") + keeps_best
    of_encoder = 4 * size.parameters + 4 * learning * (3 + copies)
    of_heads = sum(4 * _own_rows(h, optim, processes) * (h.width * (1 + copies) + _moving(h, optim)) for h in heads)
    return int(of_encoder + of_heads + _activations(size, encoder, optim.batch_size, 1 - frozen))


def _own_rows(head: Head, optim: OptimConfig, processes: int) -> float:
    """Rows that one process has while a head learns; see `neural.division`."""
    return head.rows / (processes if head.by_rows and optim.heads == "divided" else 1)


def _moving(head: Head, optim: OptimConfig) -> float:
    """Numbers per row that there are only while a head learns."""
    if head.full:
        return optim.batch_size * optim.accumulate
    if not head.by_rows:
        return 3.0 * head.width
    return (1.0 if optim.second_moment == "row" else 2.0) * head.width


def free_on(device: str) -> int | None:
    """Bytes that are free on a GPU; None where the memory is the machine's."""
    return int(torch.cuda.mem_get_info(device)[0]) if device.startswith("cuda") else None


def _activations(size: EncoderSize, encoder: EncoderConfig, batch: int, share: float) -> float:
    places = batch * encoder.max_tokens * encoder.chunks
    per_layer = places * (68 * size.width + 10 * size.attention_heads * encoder.max_tokens)
    if encoder.checkpointing:
        return per_layer + 4 * places * size.layers * size.width
    return max(1.0, size.layers * share) * per_layer

"""How X-Transformer's matcher learns: an encoder and a weight vector for each group of labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor, nn

from treetop.labels import LabelTree
from treetop.neural.examples import Batch, Examples
from treetop.neural.networks import node_frequencies, seeded
from treetop.neural.optimiser import Group, group_parameters
from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import OptimConfig
from treetop.neural.shortlist import targets
from treetop.neural.starting import start_linearly
from treetop.neural.training import TrainingLog, fine_tune
from treetop.runtime import Runtime
from treetop.sparse import binarise
from treetop.text.encoder import TextEncoder
from treetop.text.reading.readings import Readings
from treetop.text.tokens import Padded
from treetop.types import CSR

if TYPE_CHECKING:
    from treetop.methods.x_transformer import XTransformerConfig

__all__ = ["Network", "tune"]


class Network(nn.Module):
    """The neural matcher: the encoder and a weight vector per group."""

    def __init__(self, config: XTransformerConfig, encoder: TextEncoder, groups: int) -> None:
        super().__init__()
        self.config, self.encoder = config, encoder
        self.dropout = nn.Dropout(config.dropout)
        self.scorer = NodeScorer(groups, encoder.width, by_rows=False)

    def logits(self, tokens: Padded) -> Tensor:
        """Eq. 1: the margin of every group."""
        scores: Tensor = self.scorer(self.dropout(self.encoder(tokens)[0]))
        return scores

    def loss(self, batch: Batch) -> Tensor:
        """Eq. 3: the mean over texts and groups of max(0, 1 − (2m − 1)·g)²."""
        true, nodes = batch.true[0], self.scorer.nodes
        hit = targets(true.ids, None, nodes, true.values if self.config.targets == "count" else None)
        return (1 - (2 * hit - 1) * self.logits(batch.tokens).float()).clamp(min=0).square().mean()

    def parameter_groups(self, config: OptimConfig) -> list[Group]:
        """The encoder and the groups."""
        return group_parameters(self, self.encoder, config)


def tune(
    config: XTransformerConfig,
    readings: Readings,
    true: CSR,
    tree: LabelTree,
    runtime: Runtime,
    checkpoint: Path | None,
) -> tuple[Network, TrainingLog]:
    """The matcher, trained to find the true groups (step 2); `checkpoint` is where to continue."""
    with seeded(runtime.seed):
        network = Network(config, readings.encoder, tree.widths[0]).to(runtime.device)
    if config.bootstrap == "linear":
        costs = true if config.targets == "count" else binarise(true)
        start_linearly(network.scorer, readings.states(), costs, None, tree, 0, runtime)
    elif config.bootstrap == "prior":
        network.scorer.expect(node_frequencies(true), "squared_hinge")
    folder = None if checkpoint is None else checkpoint / "matcher"
    return network, fine_tune(network, Examples(readings.tokens, [true]), config.optim, runtime, checkpoint=folder)

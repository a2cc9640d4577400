"""How XR-Transformer's encoder is tuned on one level after the other: steps 2 to 4 of the method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from treetop.errors import ConfigError
from treetop.labels import LabelTree
from treetop.linear import LinearLevel
from treetop.linear.tree import reach
from treetop.neural.checkpoint import Checkpoints
from treetop.neural.dropout import CentredDropout
from treetop.neural.examples import Batch, Examples
from treetop.neural.losses import LOSSES
from treetop.neural.networks import find_nodes, node_frequencies, seeded
from treetop.neural.optimiser import Group, group_parameters
from treetop.neural.parallel import World
from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import OptimConfig
from treetop.neural.sharing import Sharing
from treetop.neural.shortlist import Children, expand, targets
from treetop.neural.starting import start_linearly
from treetop.neural.training import TrainingLog, fine_tune
from treetop.runtime import Runtime
from treetop.sparse import AnyFeatures, binarise, canonical, normalise, union
from treetop.text.encoder import TextEncoder
from treetop.text.reading.readings import Readings
from treetop.text.tokens import Padded, Tokens
from treetop.types import CSR, Dense

if TYPE_CHECKING:
    from treetop.methods.xr_transformer import XRTransformerConfig

__all__ = ["Network", "Tuning", "costs_of"]


class Network(nn.Module):
    """The encoder and the nodes of one level."""

    def __init__(self, config: XRTransformerConfig, encoder: TextEncoder, tree: LabelTree, level: int) -> None:
        super().__init__()
        self.config, self.encoder = config, encoder
        self.dropout = CentredDropout(config.dropout, encoder.width)
        self.scorer = NodeScorer(tree.widths[level], encoder.width, by_rows=level > 0)
        self.below = Children(*tree.children(level))

    def logits(self, tokens: Padded, shortlist: Tensor | None) -> Tensor:
        """Scores of the shortlist, or of all nodes, before any link."""
        scores: Tensor = self.scorer(self.dropout(self.encoder(tokens)[0]), shortlist)
        return scores

    def loss(self, batch: Batch) -> Tensor:
        """Eq. 9 without its regulariser, which is the optimiser's weight decay."""
        shortlist, true = None if batch.shortlist is None else expand(batch.shortlist.ids, self.below), batch.true[0]
        hit = targets(true.ids, shortlist, self.scorer.nodes, true.values)
        loss = LOSSES[self.config.loss]
        return loss(self.logits(batch.tokens, shortlist), hit, shortlist, self.config.divide_by, self.config.negative)

    def parameter_groups(self, config: OptimConfig) -> list[Group]:
        """The encoder and the nodes."""
        return group_parameters(self, self.encoder, config)


class Tuning:
    """The levels of a tree, coarse to fine, and the encoder that learns them; `checkpoint` is where to continue."""

    def __init__(
        self,
        config: XRTransformerConfig,
        encoder: TextEncoder,
        tree: LabelTree,
        runtime: Runtime,
        sharing: Sharing | None = None,
        checkpoint: Path | None = None,
    ) -> None:
        self.config, self.encoder, self.tree, self.runtime = config, encoder, tree, runtime
        self.sharing, self.checkpoint = sharing or Sharing(World()), checkpoint
        self.logs: list[TrainingLog] = []

    def run(self, readings: Readings, labels: CSR, join: Callable[[Dense], AnyFeatures]) -> None:
        """Tune the encoder on one level after the other. The search itself (`found`) never sees the truth.

        `join` makes the features of eq. 10 of what the encoder makes of the texts.
        """
        levels, tree = self._levels(), self.tree
        shortlist: CSR | None = None
        found: CSR | None = None
        above: NodeScorer | None = None
        for level in range(levels):
            true = tree.lift(labels, level)
            network = self.network(readings, level, true, shortlist, above)
            self.logs.append(self._train(network, readings.tokens, true, shortlist, level))
            if level + 1 < levels:
                found = self._find(network, readings.states(), join, true, shortlist, found, level)
                shortlist, above = self.shortlist(binarise(true), binarise(found)), network.scorer

    def _find(
        self,
        network: Network,
        states: Dense,
        join: Callable[[Dense], AnyFeatures],
        true: CSR,
        shortlist: CSR | None,
        found: CSR | None,
        level: int,
    ) -> CSR:
        """Eq. 7: the best nodes of a level below those found before, with the logarithms of their scores."""
        c, runtime = self.config, self.runtime
        if c.rivals == "network":
            return self.sharing.each(len(states), partial(self._find_some, network, states, found))

        def solve() -> CSR:
            features, costs = join(states), costs_of(true, c.relevance)
            linear = LinearLevel.fit(
                features, costs, shortlist, self.tree.parents[level], c.ranker.solver, costs=c.relevance != "off",
                runtime=runtime, title=f"rivals of level {level}",
            )  # fmt: skip
            return reach(linear, features, found, replace(c.ranker.search, beam=c.beam), runtime)

        return self.sharing.told(solve)

    def _find_some(self, network: Network, states: Dense, found: CSR | None, rows: NDArray[np.int64]) -> CSR:
        """The best nodes of some texts, by the network."""
        link = "sigmoid" if self.config.loss == "bce" else "l3-hinge"
        above = None if found is None else canonical(found[rows])
        return find_nodes(
            network.scorer, states[rows], self.config.beam, self.runtime, link=link, found=above, below=network.below
        )

    def shortlist(self, true: CSR, found: CSR) -> CSR:
        """The nodes whose children are shortlisted: eq. 8 and its parts."""
        kind = self.config.negatives
        return union(true, found) if kind == "both" else true if kind == "teacher" else found

    def _levels(self) -> int:
        """Levels that the encoder is tuned on: at least the coarsest, then all that are not too fine."""
        levels = 1 + sum(width <= self.config.finest for width in self.tree.widths[1:])
        if len(self.config.steps) > levels:
            raise ConfigError(f"steps has {len(self.config.steps)} entries, but {levels} levels are tuned; give fewer")
        return levels

    def network(
        self, readings: Readings | None, level: int, true: CSR, shortlist: CSR | None, above: NodeScorer | None
    ) -> Network:
        """The network of a level, begun where the level above ended; `readings` are what that one made of the texts."""
        c, kind, tree = self.config, self.config.bootstrap, self.tree
        with seeded(self.runtime.seed + level):
            network = Network(c, self.encoder, tree, level)
        network.to(self.runtime.device)
        if Checkpoints(self._folder(level)).begun:  # whose weights are not those of any beginning
            return network
        if readings is not None and (kind == "everywhere" or (kind == "linear" and level > 0)):
            states = readings.states()
            network.dropout.around(states)
            if self.sharing.world.is_leader:  # whose weights the others are given when they begin
                start_linearly(
                    network.scorer, states, costs_of(true, c.relevance), shortlist, tree, level, self.runtime,
                    cost=c.bootstrap_c, negative=c.negative, loss=c.loss,
                )  # fmt: skip
        elif kind == "inherit" and above is not None:
            parent = torch.from_numpy(tree.parents[level].astype(np.int64))
            assert above.bias is not None
            network.scorer.fill(above.weight[parent], above.bias[parent])
        elif kind == "prior":
            share = 1.0 if shortlist is None else shortlist.nnz / (shortlist.shape[0] * shortlist.shape[1])
            network.scorer.expect(node_frequencies(true, share), c.loss)
        return network

    def _train(self, network: Network, tokens: Tokens, true: CSR, shortlist: CSR | None, level: int) -> TrainingLog:
        c, title = self.config, f"fine-tune level {level}"
        examples = Examples(tokens, [costs_of(true, c.relevance)], shortlist)
        folder = self._folder(level)
        log = fine_tune(network, examples, c.optim_of(level), self.runtime, checkpoint=folder, title=title)
        network.to(self.runtime.device)  # also a head that was divided, to find nodes with
        return log

    def _folder(self, level: int) -> Path | None:
        return None if self.checkpoint is None else self.checkpoint / f"level-{level}"


def costs_of(true: CSR, relevance: str) -> CSR:
    """What an error on each true node costs: R̂ of eq. 6 and below."""
    if relevance == "share":
        return normalise(true, "l1")
    return true if relevance == "count" else binarise(true)

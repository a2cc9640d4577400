"""How CascadeXML's network learns: all levels of the tree together, each on its layers of the encoder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from treetop.errors import ConfigError
from treetop.labels import LabelTree
from treetop.methods.cascadexml import beams_of, layer_map, level_features
from treetop.methods.heads import Heads
from treetop.neural.dropout import CentredDropout
from treetop.neural.examples import Batch, Examples
from treetop.neural.losses import bce
from treetop.neural.networks import find_nodes, node_frequencies, seeded
from treetop.neural.optimiser import Group, group_parameters
from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import OptimConfig
from treetop.neural.sharing import Sharing
from treetop.neural.shortlist import Children, added, expand, pick, targets
from treetop.neural.starting import start_linearly
from treetop.neural.touched import Touched
from treetop.neural.training import TrainingLog, Watch, fine_tune
from treetop.runtime import Runtime
from treetop.sparse import binarise, union
from treetop.text.encoder import TextEncoder
from treetop.text.reading.choosing import Layers
from treetop.text.reading.lowest import keep_frozen
from treetop.text.reading.readings import Readings
from treetop.types import CSR, Dense, Texts

if TYPE_CHECKING:
    from treetop.methods.cascadexml import CascadeXMLConfig

__all__ = ["Network", "Tuning"]


class Network(nn.Module):
    """The encoder and, for each level, features and a scorer."""

    def __init__(self, config: CascadeXMLConfig, encoder: TextEncoder, tree: LabelTree) -> None:
        super().__init__()
        self.config, self.encoder, self.levels = config, encoder, tree.levels
        self.map = layer_map(config, encoder.layers, tree.levels)
        _check_levels(config, self.map, encoder, tree)
        self.layers = sorted({layer for joined in self.map for layer in joined})
        width = encoder.width
        self.joins = nn.ModuleList(
            nn.Sequential(nn.Dropout(0.2), nn.Linear(len(joined) * width, width)) if len(joined) > 1 else nn.Identity()
            for joined in self.map
        )
        self.dropouts = nn.ModuleList(CentredDropout(p, width) for p in _spread(config.dropouts, tree.levels))
        self.scorers = nn.ModuleList(NodeScorer(n, width, by_rows=t > 0) for t, n in enumerate(tree.widths))
        self.below = nn.ModuleList(Children(*tree.children(level)) for level in range(1, tree.levels))
        self.beams = beams_of(config, tree.levels)
        self.weights = _loss_weights(tree, self.beams) if config.rescale else [1.0] * tree.levels

    def expect(self, true: list[CSR], tree: LabelTree) -> None:
        """Begin with each node as likely as it is on the shortlists that the beams let through."""
        for level, scorer in enumerate(self.scorers):
            share = 1.0 if level == 0 else min(1.0, self.beams[level - 1] / tree.widths[level - 1])
            scorer.expect(node_frequencies(true[level], share))  # type: ignore[operator]

    def features(self, states: Tensor, level: int) -> Tensor:
        """What a level sees: its layers' states, joined if there are several, with its dropout."""
        joined = torch.cat([states[self.layers.index(layer)] for layer in self.map[level]], 1)
        result: Tensor = self.dropouts[level](self.joins[level](joined))
        return result

    def loss(self, batch: Batch) -> Tensor:
        """Eq. 5: the sum over levels of the weighted cross-entropy over the shortlist."""
        states: Tensor = self.encoder(batch.tokens, self.layers)
        shortlist, total, touched = None, states.new_zeros(()), Touched()
        for level, scorer in enumerate(self.scorers):
            logits = scorer(self.features(states, level), shortlist, touched)
            hit = targets(batch.true[level].ids, shortlist, scorer.nodes)  # type: ignore[arg-type]
            total = total + self.weights[level] * bce(logits, hit, shortlist, self.config.divide_by)
            if level < self.levels - 1:
                shortlist = self._refine(level, logits, shortlist, hit, batch)
        return total

    def _refine(self, level: int, logits: Tensor, shortlist: Tensor | None, hit: Tensor, batch: Batch) -> Tensor:
        """Eq. 3: the children of the best nodes, and what is true at the level below."""
        below, siblings = self.below[level], self.config.forcing == "parents"
        most = batch.true[level].ids.shape[1]
        best, _ = pick(logits, shortlist, self.beams[level], force=hit if siblings else None, most=most)
        found = expand(best, below)  # type: ignore[arg-type]
        return found if siblings else added(found, batch.true[level + 1].ids)

    def parameter_groups(self, config: OptimConfig) -> list[Group]:
        """The encoder, and everything else at its own rate."""
        return group_parameters(self, self.encoder, config)


class Tuning:
    """The training of a network; `checkpoint` is where to continue."""

    def __init__(
        self,
        config: CascadeXMLConfig,
        layers: Layers,
        tree: LabelTree,
        runtime: Runtime,
        sharing: Sharing,
        checkpoint: Path | None,
    ) -> None:
        self.config, self.layers, self.tree, self.runtime, self.checkpoint = config, layers, tree, runtime, checkpoint
        self.sharing = sharing
        with seeded(runtime.seed):
            self.network = Network(config, TextEncoder.load(config.encoder), tree)
        self.network.to(runtime.device)

    def read(self, texts: Texts) -> Readings:
        """The texts, to be read before and after the encoder learns."""
        encoder, lowest = self.network.encoder, self.network.layers[0]
        tokens = self.sharing.first(lambda: encoder.tokenize(texts, self.checkpoint, self.runtime))
        tokens = keep_frozen(encoder, tokens, self.checkpoint, self.runtime, lowest_wanted=lowest)
        return Readings(encoder, self.layers, tokens, self.runtime, self.checkpoint, peers=self.sharing.peers)

    def run(self, readings: Readings, labels: CSR, watch: Watch | None) -> TrainingLog:
        """Learn; `watch` judges the network meanwhile."""
        levels = [self.tree.lift(labels, level) for level in range(self.tree.levels)]
        if self.config.bootstrap == "linear":
            states = readings.states()
            if self.sharing.world.is_leader:  # whose weights the others are given when they begin
                self._begin(states, [binarise(level) for level in levels])
        elif self.config.bootstrap == "prior":
            self.network.expect(levels, self.tree)
        examples = Examples(readings.tokens, levels)
        folder = None if self.checkpoint is None else self.checkpoint / "network"
        return fine_tune(self.network, examples, self.config.optim, self.runtime, watch=watch, checkpoint=folder)

    def _begin(self, states: Dense, true: list[CSR]) -> None:
        """Level by level, against the shortlist that the levels above find (XR-Transformer, eq. 11; logistic loss)."""
        network, tree, runtime = self.network, self.tree, self.runtime
        shortlist: CSR | None = None
        found: CSR | None = None
        heads, layers = Heads.of(network), self.layers(network.encoder.layers)
        for level, scorer in enumerate(network.scorers):
            assert isinstance(scorer, NodeScorer)
            joined = network.map[level]
            before = heads.affine(f"joins.{level}.1") if len(joined) > 1 else None
            features = level_features(states, layers, joined, before)
            network.dropouts[level].around(features)  # type: ignore[operator]
            start_linearly(scorer, features, true[level], shortlist, tree, level, runtime, loss="bce")
            if level + 1 < network.levels:
                beam, below = network.beams[level], network.below[level - 1] if level else None
                found = find_nodes(scorer, features, beam, runtime, link="sigmoid", found=found, below=below)  # type: ignore[arg-type]
                shortlist = union(true[level], binarise(found))


def _check_levels(
    config: CascadeXMLConfig, layers: tuple[tuple[int, ...], ...], encoder: TextEncoder, tree: LabelTree
) -> None:
    levels = tree.levels
    allowed = {
        "layers": (len(layers), {levels}),
        "dropouts": (len(config.dropouts), {1, 2, levels}),
        "beams": (len(config.beams), set(range(1, max(2, levels)))),
    }
    wrong = ", ".join(f"{name} has {size} entries" for name, (size, right) in allowed.items() if size not in right)
    if wrong:
        widths = " > ".join(f"{width:,}" for width in tree.widths)
        remedy = "give one per level (beams: above the labels), or layers=[] dropouts=[0.2,0.5] beams=[64]"
        raise ConfigError(f"{wrong}, but these labels make {levels} levels of {widths} nodes; {remedy}")
    for joined in layers:
        if not joined or not all(0 <= layer <= encoder.layers for layer in joined):
            raise ConfigError(f"layers has {joined}; the encoder has layers 0 (its input) to {encoder.layers}")


def _spread(values: tuple[float, ...], levels: int) -> list[float]:
    """One value per level: as given, or evenly from the first to the last."""
    if len(values) == levels:
        return list(values)
    return [float(value) for value in np.linspace(values[0], values[-1], levels)]


def _loss_weights(tree: LabelTree, beams: list[int]) -> list[float]:
    """α of eq. 5: the expected size of each level's shortlist over the smallest of them."""
    sizes = [float(tree.widths[0])]
    for level, beam in enumerate(beams):
        nodes, children = tree.widths[level], tree.widths[level + 1]
        sizes.append(min(beam, nodes) * children / nodes)
    return [size / min(sizes) for size in sizes]

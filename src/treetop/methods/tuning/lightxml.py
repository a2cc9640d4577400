"""How LightXML's network learns: recall and ranking together, or in turn with static negatives."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from treetop.labels import LabelTree
from treetop.methods.heads import FILE as HEADS, Heads
from treetop.neural.dropout import CentredDropout
from treetop.neural.examples import Batch, Examples
from treetop.neural.full_head import FullHead
from treetop.neural.losses import bce
from treetop.neural.networks import node_frequencies, seeded
from treetop.neural.optimiser import Group, group_parameters
from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import OptimConfig
from treetop.neural.sharing import Sharing
from treetop.neural.shortlist import Children, expand, pick, targets
from treetop.neural.starting import start_linearly
from treetop.neural.training import TrainingLog, Watch, fine_tune
from treetop.runtime import Runtime
from treetop.sparse import binarise, union
from treetop.store import Folder
from treetop.text.encoder import TextEncoder
from treetop.text.reading.choosing import Layers
from treetop.text.reading.lowest import keep_frozen
from treetop.text.reading.readings import Readings
from treetop.text.reading.torch_reader import EncoderReader
from treetop.text.tokens import Padded
from treetop.types import CSR, Texts

if TYPE_CHECKING:
    from treetop.methods.lightxml import LightXML, LightXMLConfig

__all__ = ["Network", "Tuning", "older_first_reader"]

OLDER = "first_encoder."


class Network(nn.Module):
    """Encoder, recall over groups (None in flat mode), and ranking over labels."""

    def __init__(self, config: LightXMLConfig, encoder: TextEncoder, layers: Layers, tree: LabelTree) -> None:
        super().__init__()
        self.config, self.encoder = config, encoder
        self.layers = tuple(layers(encoder.layers))
        width, labels = encoder.width * len(self.layers), tree.widths[-1]
        self.dropout = CentredDropout(config.dropout, width)
        self.recalls_only = False
        self.recall: NodeScorer | None = None
        self.first_encoder: TextEncoder | None = None  # what recall reads by, where ranking has one of its own (BS)
        self.ranking: NodeScorer | FullHead
        if tree.levels == 1:
            in_chunks = config.by_chunks(labels)
            self.ranking = FullHead(labels, width) if in_chunks else NodeScorer(labels, width, by_rows=False)
            return
        self.below = Children(*tree.children(1))
        self.recall = NodeScorer(tree.widths[0], width, by_rows=False)
        self.ranking = NodeScorer(labels, width, bias=False, bottleneck=config.bottleneck, squash=config.squash)

    def states(self, tokens: Padded) -> Tensor:
        """The joined states of each text: (texts, layers · width)."""
        states = self.encoder(tokens, self.layers)
        joined: Tensor = self.dropout(states.transpose(0, 1).flatten(1))
        return joined

    def split_encoders(self) -> None:
        """From here on ranking tunes an encoder of its own, and recall keeps the one it has."""
        self.first_encoder = copy.deepcopy(self.encoder)
        self.first_encoder.freeze()

    def loss(self, batch: Batch) -> Tensor:
        """Eq. 6: the loss of recall plus the loss of ranking."""
        states, divide_by = self.states(batch.tokens), self.config.divide_by
        if isinstance(self.ranking, FullHead):
            return self.ranking(states, batch.true[0].ids, divide_by)  # type: ignore[no-any-return]
        if self.recall is None:
            return bce(self.ranking(states), targets(batch.true[0].ids, None, self.ranking.nodes), None, divide_by)
        if batch.shortlist is not None:  # static negatives: the groups were chosen before
            return self._ranking_loss(states, batch.shortlist.ids, batch)
        groups = self.recall(states)
        hit = targets(batch.true[0].ids, None, self.recall.nodes)
        of_recall = bce(groups, hit, None, divide_by)
        if self.recalls_only:
            return of_recall
        best, _ = pick(groups, None, self.config.beam, force=hit, most=batch.true[0].ids.shape[1])
        return of_recall + self._ranking_loss(states, best, batch)

    def _ranking_loss(self, states: Tensor, groups: Tensor, batch: Batch) -> Tensor:
        """The loss over the labels of some groups."""
        shortlist = expand(groups, self.below)
        hit = targets(batch.true[1].ids, shortlist, self.ranking.nodes)
        return bce(self.ranking(states, shortlist), hit, shortlist, self.config.divide_by)

    def parameter_groups(self, config: OptimConfig) -> list[Group]:
        """Everything that is not frozen."""
        return group_parameters(self, self.encoder, config)


class Tuning:
    """The training of a network; `checkpoint` is where to continue."""

    def __init__(
        self,
        config: LightXMLConfig,
        layers: Layers,
        tree: LabelTree,
        runtime: Runtime,
        sharing: Sharing,
        checkpoint: Path | None,
    ) -> None:
        self.config, self.layers, self.tree, self.runtime, self.checkpoint = config, layers, tree, runtime, checkpoint
        self.sharing = sharing
        with seeded(runtime.seed):
            self.network = Network(config, TextEncoder.load(config.encoder), layers, tree)
        self.network.to(runtime.device)
        self.logs: list[TrainingLog] = []

    def read(self, texts: Texts) -> Readings:
        """The texts, to be read before, while and after the encoder learns."""
        encoder, lowest = self.network.encoder, self.network.layers[0]
        tokens = self.sharing.first(lambda: encoder.tokenize(texts, self.checkpoint, self.runtime))
        tokens = keep_frozen(encoder, tokens, self.checkpoint, self.runtime, lowest_wanted=lowest)
        return Readings(encoder, self.layers, tokens, self.runtime, self.checkpoint, peers=self.sharing.peers)

    def run(self, readings: Readings, labels: CSR, watch: Watch | None) -> None:
        """Learn; `watch` judges the network meanwhile."""
        true = [self.tree.lift(labels, level) for level in range(self.tree.levels)]
        self._begin(readings, true[0])
        if self.config.negatives == "dynamic" or self.tree.levels == 1:
            self._train("both", Examples(readings.tokens, true), watch)
        else:
            self._train_in_turn(readings, true, watch)

    def _begin(self, readings: Readings, true: CSR) -> None:
        scorer = self.network.recall or self.network.ranking
        if self.config.bootstrap == "prior":
            scorer.expect(node_frequencies(true))
        elif self.config.bootstrap == "linear":
            states = readings.states()
            self.network.dropout.around(states)
            if self.sharing.world.is_leader:  # whose weights the others are given when they begin
                start_linearly(scorer, states, binarise(true), None, self.tree, 0, self.runtime, loss="bce")

    def _train_in_turn(self, readings: Readings, true: list[CSR], watch: Watch | None) -> None:
        """Static negatives: recall first, then ranking among the labels of the true groups and of those it found."""
        network, tokens = self.network, readings.tokens
        assert network.recall is not None
        network.recalls_only = True
        self._train("recall", Examples(tokens, true), None)
        network.recalls_only = False
        network.recall.requires_grad_(False)
        states, recall = readings.states(), Heads.of(network).level("recall")
        found = self.sharing.told(lambda: recall.best(states, self.config.beam, self.runtime))
        if self.config.negatives == "static-tuned":
            network.split_encoders()
        else:
            network.encoder.freeze()
        self._train("ranking", Examples(tokens, true, union(binarise(true[0]), binarise(found))), watch)

    def _train(self, what: str, examples: Examples, watch: Watch | None) -> None:
        folder = None if self.checkpoint is None else self.checkpoint / what
        log = fine_tune(self.network, examples, self.config.optim, self.runtime, watch=watch, checkpoint=folder)
        self.logs.append(log)


def older_first_reader(model: LightXML, folder: Folder) -> EncoderReader:
    """The encoder that recall learned with, from a folder that holds it among the heads."""
    encoder = TextEncoder.load(model.config.encoder, folder.path / "encoder").eval()
    arrays = folder.read_tensors(HEADS)
    with folder.reading(HEADS):
        own = {name.removeprefix(OLDER): np.array(array) for name, array in arrays.items() if name.startswith(OLDER)}
        encoder.load_state_dict({name: torch.from_numpy(array) for name, array in own.items()})
    return EncoderReader(encoder.to(model.runtime.device), model.layers(encoder.layers), model.runtime)

"""How X-Transformer's matcher learns: an encoder and a weight vector for each group of labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor, nn

from treetop.data import Corpus
from treetop.data.splitting import rows_by_ratio
from treetop.labels import LabelTree
from treetop.methods.heads import Heads
from treetop.metrics.evaluate import dev_score
from treetop.neural.dropout import CentredDropout
from treetop.neural.examples import Batch, Examples
from treetop.neural.networks import node_frequencies, seeded
from treetop.neural.optimiser import Group, group_parameters
from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import OptimConfig
from treetop.neural.sharing import Sharing
from treetop.neural.shortlist import targets
from treetop.neural.starting import start_linearly
from treetop.neural.training import TrainingLog, Watch, fine_tune
from treetop.predictions import Predictions
from treetop.runtime import Runtime
from treetop.sparse import binarise, canonical
from treetop.text.encoder import TextEncoder
from treetop.text.reading.readings import Readings
from treetop.text.reading.torch_reader import EncoderReader
from treetop.text.tokens import Padded, Tokens
from treetop.types import CSR

if TYPE_CHECKING:
    from treetop.methods.x_transformer import XTransformerConfig

__all__ = ["Network", "tune"]


class Network(nn.Module):
    """The neural matcher: the encoder and a weight vector per group."""

    def __init__(self, config: XTransformerConfig, encoder: TextEncoder, groups: int) -> None:
        super().__init__()
        self.config, self.encoder = config, encoder
        self.dropout = CentredDropout(config.dropout, encoder.width)
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
    corpus: Corpus,
    tree: LabelTree,
    runtime: Runtime,
    sharing: Sharing,
    checkpoint: Path | None,
) -> tuple[Network, TrainingLog]:
    """The matcher, trained to find the true groups of the corpus (step 2); `checkpoint` is where to continue."""
    with seeded(runtime.seed):
        network = Network(config, readings.encoder, tree.widths[0]).to(runtime.device)
    if config.bootstrap == "linear":
        costs = true if config.targets == "count" else binarise(true)
        states = readings.states()
        network.dropout.around(states)
        if sharing.world.is_leader:  # whose weights the others are given when they begin
            start_linearly(network.scorer, states, costs, None, tree, 0, runtime)
    elif config.bootstrap == "prior":
        network.scorer.expect(node_frequencies(true), "squared_hinge")
    folder, tokens = None if checkpoint is None else checkpoint / "matcher", readings.tokens
    if not config.dev_share:
        return network, fine_tune(network, Examples(tokens, [true]), config.optim, runtime, checkpoint=folder)
    learn, dev = rows_by_ratio(corpus, 1 - config.dev_share, runtime.seed)
    watch = _watch(network, tokens.take(dev), canonical(true[dev]), runtime)
    examples = Examples(tokens.take(learn), [canonical(true[learn])])
    return network, fine_tune(network, examples, config.optim, runtime, watch=watch, checkpoint=folder)


def _watch(network: Network, tokens: Tokens, true: CSR, runtime: Runtime) -> Watch:
    """How well the matcher finds the groups of texts that it does not learn from."""

    def watch() -> float:
        encoder = network.encoder
        states = EncoderReader(encoder, (encoder.layers,), runtime).read(tokens, runtime)
        labels, margins = Heads.of(network).level("scorer").ranked(states, min(5, true.shape[1]), runtime)
        return dev_score(Predictions(labels, margins), binarise(true))

    return watch

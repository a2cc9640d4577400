"""LightXML: one network that recalls groups of labels and ranks the labels in them, trained end to end.

Jiang, Wang, Sun, Yang, Zhao, Zhuang: LightXML, AAAI 2021.

1. Labels are grouped by what their texts look like (PIFA on tf-idf, balanced 2-means).
2. A text's representation joins the pooled token of the encoder's last five layers, with dropout 0.5.
3. Recall (the generator): a linear layer scores every group.
4. Rank (the discriminator): the labels of the best groups, and of the true ones, are scored through a bottleneck. They
   change as recall learns: dynamic negative sampling.
5. Both losses are added. A label's score is its own times its group's.

Small label sets need no groups: one linear layer scores all labels (`mode="flat"`; the paper's Eurlex-4K, Wiki10-31K
and AmazonCat-13K).

| paper           | here                              |
|-----------------|-----------------------------------|
| K, G(e)         | groups, `recall`                  |
| b (top groups)  | `beam`                            |
| S_g             | shortlist                        |
| E, W_h, D(e, M) | `ranking`, its bottleneck         |
| e (5 × k)       | `states`: the last `layers` joined |

Static negatives, the paper's ablation: `negatives="static"` (S) trains recall first, then looks up each text's best
groups once and trains ranking on the labels of these and on the frozen representation; `"static-tuned"` (BS) gives
ranking a copy of the encoder to tune, while recall keeps the one it learned with.

Known differences from the authors' code: every label begins as likely as it is (`bootstrap="none"`: as likely as not);
padding is masked where theirs repeats the last one; no true label is ever dropped; the pooled token of XLNet is
its last, not its first; texts are cut in tokens only, and lower-cased only if the tokenizer does; dropout stays on in
training, where theirs ends for the rest of an epoch at its first look at the test score; the weights kept are the last
or their average, or with `dev_share` the best on held-out texts, where theirs are the best by P@5; attention weights
are not dropped (`encoder.attention_dropout`); the bottleneck has no activation, as in the code (the paper's eq. 4 has a
sigmoid: `squash`); by default labels learn fast, in a few epochs with a falling rate, where theirs learn slowly in many
with averaged weights (the presets have theirs).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from treetop.config import settle
from treetop.data import Corpus, Dataset
from treetop.errors import ConfigError
from treetop.labels import LabelTree, TreeConfig, grow_tree, pifa
from treetop.methods.bag import FeatureSource, fit_bag_of_words, texts_of
from treetop.methods.costs import Sizes, growing, weighing
from treetop.methods.fine_tuned import FineTuned, network_part
from treetop.methods.parts import TREE
from treetop.neural.costs import EncoderCosts
from treetop.neural.examples import Batch, Examples
from treetop.neural.losses import bce
from treetop.neural.memory import Head
from treetop.neural.networks import hold_out, limits_of, node_frequencies, rank, seeded
from treetop.neural.optimiser import Group, group_parameters
from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import Divisor, OptimConfig, check_watched
from treetop.neural.shortlist import Children, Limits, expand, expand_scores, pick, targets
from treetop.neural.starting import start_linearly
from treetop.neural.training import TrainingLog, fine_tune
from treetop.predictions import Ask, Predictions
from treetop.progress import Stage
from treetop.sparse import binarise, union
from treetop.text import TfidfConfig
from treetop.text.encoder import EncoderConfig, EncoderSize, TextEncoder, read_all
from treetop.text.tokens import Padded, Tokens
from treetop.types import CSR

__all__ = ["LightXML", "LightXMLConfig"]

FLAT_UP_TO = 32_000  # Wiki10-31K, the largest label set that the authors train without groups, has 30,938.


@dataclass(frozen=True, kw_only=True, slots=True)
class LightXMLConfig:
    """One encoder, recall over groups, ranking over the labels of the best."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    """The text encoder."""
    optim: OptimConfig = field(
        default_factory=lambda: OptimConfig(lr=1e-4, head_lr_factor=0.0, head_weight_decay=0.01, clip=0.0, epochs=5)
    )
    """The training: by default a few epochs that end slowly; the paper's, for many, are in its presets."""
    mode: Literal["auto", "flat", "groups"] = "auto"
    """With groups or without; "auto" decides by the number of labels, and static negatives need groups."""
    tfidf: TfidfConfig = field(default_factory=TfidfConfig)
    """Features that labels are grouped by."""
    features: FeatureSource = "auto"
    """Tf-idf of the texts, features given beside them, or both; "auto": the given ones if a benchmark ships them."""
    tree: TreeConfig = field(default_factory=TreeConfig)
    """How labels are grouped; its last level above the labels is used."""
    layers: int = 5
    """Last layers of the encoder whose pooled tokens are joined."""
    dropout: float = 0.3
    """Dropout on the representation; the paper's 0.5 is for its twenty epochs."""
    bottleneck: int = 400
    """Width of a label's vector in groups mode; 0 for that of the representation."""
    squash: Literal["none", "sigmoid"] = "none"
    """Activation of the bottleneck."""
    beam: int = 32
    """Groups whose labels are ranked."""
    negatives: Literal["dynamic", "static", "static-tuned"] = "dynamic"
    """A shortlist that follows recall as it learns, or is fixed after recall was trained (S and BS in the paper)."""
    divide_by: Divisor = "real"
    """What a text's loss is divided by; see `neural.losses`."""
    bootstrap: Literal["linear", "prior", "none"] = "prior"
    """Where recall begins (ranking, in flat mode): a linear solution on the untuned encoder's states, or at random,
    with biases that say how often a node is true ("prior") or with none."""
    dev_share: float = 0.0
    """Share of the training texts held out to choose the best weights by; 0 keeps the last."""

    def __post_init__(self) -> None:
        settle(self)
        for name, least in (("layers", 1), ("beam", 1), ("bottleneck", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        for name in ("dropout", "dev_share"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be from 0 to below 1")
        if self.mode == "flat" and self.negatives != "dynamic":
            raise ConfigError(f"negatives is '{self.negatives}', but flat mode has no negatives to choose; use groups")
        if self.squash != "none" and not self.bottleneck:
            raise ConfigError(f"squash is '{self.squash}', but bottleneck is 0; there is nothing to squash")
        check_watched(self.optim, self.dev_share)


class Network(nn.Module):
    """Encoder, recall over groups (None in flat mode), and ranking over labels."""

    def __init__(self, config: LightXMLConfig, encoder: TextEncoder, tree: LabelTree) -> None:
        super().__init__()
        self.config, self.encoder = config, encoder
        self.layers = range(max(1, encoder.layers + 1 - config.layers), encoder.layers + 1)
        width, labels = encoder.width * len(self.layers), tree.widths[-1]
        self.dropout = nn.Dropout(config.dropout)
        self.recalls_only = False
        self.recall: NodeScorer | None = None
        self.first_encoder: TextEncoder | None = None  # what recall reads by, where ranking has one of its own (BS)
        if tree.levels == 1:
            self.ranking = NodeScorer(labels, width, by_rows=False)
            return
        self.below = Children(*tree.children(1))
        self.recall = NodeScorer(tree.widths[0], width, by_rows=False)
        self.ranking = NodeScorer(labels, width, bias=False, bottleneck=config.bottleneck, squash=config.squash)

    def states(self, tokens: Padded, encoder: TextEncoder | None = None) -> Tensor:
        """The joined states of each text: (texts, layers · width)."""
        states = (encoder or self.encoder)(tokens, self.layers)
        joined: Tensor = self.dropout(states.transpose(0, 1).flatten(1))
        return joined

    def groups(self, tokens: Padded, states: Tensor) -> Tensor:
        """The score of every group, from the states or from recall's own encoder."""
        assert self.recall is not None
        logits: Tensor = self.recall(states if self.first_encoder is None else self.states(tokens, self.first_encoder))
        return logits.sigmoid()

    def score_groups(self, tokens: Padded, rows: NDArray[np.int64]) -> tuple[None, Tensor]:
        """Every group and its score."""
        del rows
        return None, self.groups(tokens, self.states(tokens))

    def split_encoders(self) -> None:
        """From here on ranking tunes an encoder of its own, and recall keeps the one it has."""
        self.first_encoder = copy.deepcopy(self.encoder)
        self.first_encoder.freeze()

    def loss(self, batch: Batch) -> Tensor:
        """Eq. 6: the loss of recall plus the loss of ranking."""
        states, divide_by = self.states(batch.tokens), self.config.divide_by
        if self.recall is None:
            return bce(self.ranking(states), targets(batch.true[0].ids, None, self.ranking.nodes), None, divide_by)
        if batch.shortlist is not None:  # static negatives: the groups were chosen before
            return self._ranking_loss(states, batch.shortlist.ids, batch)
        groups = self.recall(states)
        hit = targets(batch.true[0].ids, None, self.recall.nodes)
        of_recall = bce(groups, hit, None, divide_by)
        if self.recalls_only:
            return of_recall
        return of_recall + self._ranking_loss(states, pick(groups, None, self.config.beam, force=hit)[0], batch)

    def _ranking_loss(self, states: Tensor, groups: Tensor, batch: Batch) -> Tensor:
        """The loss over the labels of some groups."""
        shortlist = expand(groups, self.below)
        hit = targets(batch.true[1].ids, shortlist, self.ranking.nodes)
        return bce(self.ranking(states, shortlist), hit, shortlist, self.config.divide_by)

    def score(
        self, tokens: Padded, rows: NDArray[np.int64], limits: Limits | None = None
    ) -> tuple[Tensor | None, Tensor]:
        """Labels of the best groups, and for each its own score times its group's."""
        del rows
        states, limits = self.states(tokens), limits or Limits()
        if self.recall is None:
            return None, limits.scores(self.ranking(states).sigmoid(), 0)
        groups = limits.scores(self.groups(tokens, states), 0)
        best, of_group = pick(groups, None, limits.beam or self.config.beam)
        shortlist, of_group = expand_scores(best, of_group, self.below)
        shortlist = limits.shortlist(shortlist, 1)
        return shortlist, self.ranking(states, shortlist).sigmoid() * of_group

    def parameter_groups(self, config: OptimConfig) -> list[Group]:
        """Everything that is not frozen."""
        return group_parameters(self, self.encoder, config)


class LightXML(FineTuned[LightXMLConfig]):
    """LightXML; `checkpoint` is a folder that an interrupted `fit` continues from."""

    name = "lightxml"
    config_class = LightXMLConfig
    parts = (TREE, network_part(lambda model, encoder: _stored_network(model.config, encoder, model.tree)))
    memory_advice = f"{FineTuned.memory_advice} Many labels need mode=groups, or fewer layers."

    def _learn(self, train: Dataset) -> None:
        learn, dev = hold_out(train, self.config.dev_share, self.runtime.seed)
        self.tree = self._group(learn)
        with seeded(self.runtime.seed):
            self.network = Network(self.config, TextEncoder.load(self.config.encoder), self.tree)
        self.network.to(self.runtime.device)
        true = [self.tree.lift(binarise(learn.labels), level) for level in range(self.tree.levels)]
        encoder, lowest = self.network.encoder, self.network.layers[0]
        tokens = encoder.tokenize(texts_of(learn.corpus), self.checkpoint, self.runtime)
        tokens = encoder.keep_frozen(tokens, self.checkpoint, self.runtime, lowest_wanted=lowest)
        self._begin(tokens, true[0])
        if self.config.negatives == "dynamic" or self.tree.levels == 1:
            self.logs = [self._train("both", Examples(tokens, true), dev)]
        else:
            self.logs = self._train_in_turn(tokens, true, dev)

    def _begin(self, tokens: Tokens, true: CSR) -> None:
        network = self.network
        scorer = network.recall or network.ranking
        if self.config.bootstrap == "prior":
            scorer.expect(node_frequencies(true))
        if self.config.bootstrap != "linear":
            return
        width = network.encoder.width * len(network.layers)
        states = read_all(network, network.states, width, tokens, self.runtime)
        start_linearly(scorer, states, binarise(true), None, self.tree, 0, self.runtime, loss="bce")

    def _group(self, train: Dataset) -> LabelTree:
        """Two levels, groups and labels; one in flat mode."""
        if self._flat(len(train.space)):
            return LabelTree.flat(len(train.space))
        cores, seed = self.runtime.cores, self.runtime.seed
        with self.runtime.bar("tf-idf"):
            wanted = self.config.features
            _, features = fit_bag_of_words(self.config.tfidf, train.corpus, features=wanted, threads=cores)
        with self.runtime.bar("grow tree"):
            representation = pifa(features, train.labels, normalise_labels=False, threads=cores)
            tree = grow_tree(representation, self.config.tree, seed=seed, threads=cores)
        return tree.keep([] if tree.levels == 1 else [tree.levels - 2])

    def _flat(self, labels: int) -> bool:
        if self.config.mode == "auto":
            return labels <= FLAT_UP_TO and self.config.negatives == "dynamic"
        return self.config.mode == "flat"

    def _train_in_turn(self, tokens: Tokens, true: list[CSR], dev: Dataset | None) -> list[TrainingLog]:
        """Static negatives: recall first, then ranking among the labels of the true groups and of those it found."""
        network = self.network
        assert network.recall is not None
        network.recalls_only = True
        first = self._train("recall", Examples(tokens, true), None)
        network.recalls_only = False
        network.recall.requires_grad_(False)
        found = rank(network.score_groups, tokens, self.config.beam, self.runtime).to_csr(network.recall.nodes)
        if self.config.negatives == "static-tuned":
            network.split_encoders()
        else:
            network.encoder.freeze()
        shortlist = union(binarise(true[0]), binarise(found))
        return [first, self._train("ranking", Examples(tokens, true, shortlist), dev)]

    def _train(self, what: str, examples: Examples, dev: Dataset | None) -> TrainingLog:
        folder, watch = None if self.checkpoint is None else self.checkpoint / what, self._watch(dev)
        return fine_tune(self.network, examples, self.config.optim, self.runtime, watch=watch, checkpoint=folder)

    @property
    def has_beam(self) -> bool:
        """Only where there are groups to keep."""
        return self.tree.levels > 1

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        tokens = self.network.encoder.tokenize(texts_of(corpus), runtime=self.runtime)
        return rank(partial(self.network.score, limits=limits_of(ask, self.tree)), tokens, ask.k, self.runtime)

    def describe(self) -> dict[str, Any]:
        """Widths of the levels, and the encoder."""
        return {"levels": " > ".join(f"{width:,}" for width in self.tree.widths), "encoder": self.config.encoder.name}

    def label_tree(self) -> LabelTree | None:
        """The groups."""
        return self.tree

    def _text_encoder(self) -> TextEncoder:
        return self.network.encoder

    def _tuning(self, sizes: Sizes, costs: EncoderCosts) -> list[Stage]:
        c, flat = self.config, self._flat(sizes.labels)
        costs, heads = costs.of(round(sizes.texts * (1 - c.dev_share))), self._heads(sizes.labels, costs.size)
        weigh, sizes = weighing(sizes, c.tfidf)
        stages = [*([] if flat else [weigh, growing(sizes, c.tree)]), *costs.opening()]
        if c.bootstrap == "linear":
            stages += [costs.reading(), costs.starting(heads[0].rows, heads[0].width)]
        tune = costs.learning(c.optim, heads, dev_share=c.dev_share)
        in_turn = [] if flat or c.negatives == "dynamic" else [costs.reading("rank"), tune]
        return [*stages, tune, *in_turn]

    def _heads(self, labels: int, encoder: EncoderSize) -> list[Head]:
        width = encoder.width * min(self.config.layers, encoder.layers)
        if self._flat(labels):
            return [Head(labels, width, by_rows=False)]
        groups = Head(2 * labels // self.config.tree.max_leaf + 1, width, by_rows=False)
        return [groups, Head(labels, self.config.bottleneck or width)]


def _stored_network(config: LightXMLConfig, encoder: TextEncoder, tree: LabelTree) -> Network:
    """The network as it was when training ended, for its weights to be put in."""
    network = Network(config, encoder, tree)
    if config.negatives == "static-tuned" and tree.levels > 1:
        network.split_encoders()  # the weights of the first are among the heads
    return network

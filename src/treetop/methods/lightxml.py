"""LightXML: one network that recalls groups of labels and ranks the labels in them, trained end to end.

Jiang, Wang, Sun, Yang, Zhao, Zhuang: LightXML, AAAI 2021.

1. Labels are grouped by what their texts look like (PIFA on tf-idf, balanced 2-means).
2. A text's representation joins the pooled token of the encoder's last five layers, with dropout 0.5.
3. Recall (the generator): a linear layer scores every group.
4. Rank (the discriminator): the labels of the best groups, and of the true ones, are scored through a bottleneck. They
   change as recall learns: dynamic negative sampling.
5. Both losses are added. A label's score is its own times its group's.

Label sets whose weights fit in memory need no groups: one linear layer scores all labels (`mode="flat"`; the paper's
Eurlex-4K, Wiki10-31K and AmazonCat-13K; larger ones in chunks, see `neural.full_head`).

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

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treetop.config import settle
from treetop.data import Corpus, Dataset
from treetop.errors import ConfigError
from treetop.labels import LabelTree, TreeConfig
from treetop.linear.dense_level import sigmoid
from treetop.methods.bag import FeatureSource, fit_bag_of_words, texts_of
from treetop.methods.costs import Sizes, growing, weighing
from treetop.methods.explaining.account import Account, Node, chained
from treetop.methods.explaining.encoders import Row, account_of_rows
from treetop.methods.fine_tuned import FineTuned, check_groups, in_turn, reader_part
from treetop.methods.heads import Heads, Shapes, heads_part, level_shapes
from treetop.methods.label_features import tree_on
from treetop.methods.parts import TREE, Part
from treetop.neural.settings import Divisor, OptimConfig, check_watched
from treetop.predictions import Ask, Predictions
from treetop.progress import Stage
from treetop.sparse import binarise, only_columns
from treetop.store import Folder
from treetop.text import TfidfConfig
from treetop.text.encoder_config import EncoderConfig
from treetop.text.reading.choosing import export_reader, open_reader
from treetop.text.reading.text_reader import TextReader
from treetop.text.tokens import Tokens

if TYPE_CHECKING:
    from treetop.methods.tuning.lightxml import Network
    from treetop.neural.costs import EncoderCosts
    from treetop.neural.memory import Head
    from treetop.neural.sharing import Sharing
    from treetop.text.encoder import EncoderSize

__all__ = ["LightXML", "LightXMLConfig"]

BY_ELEMENT_UP_TO = 32_000
"""Labels whose weights have moments each; Wiki10-31K, the most that the authors train without groups, has 30,938."""
FLAT_WEIGHTS = 2**28
"""Weights of labels, 1 GiB, up to which there are no groups."""


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

    def by_chunks(self, labels: int) -> bool:
        """Whether all labels are scored some at a time, and move by rows; see `neural.full_head`."""
        wanted = self.optim.second_moment
        return wanted == "row" or (wanted == "auto" and labels > BY_ELEMENT_UP_TO)


def _open_recall_reader(model: LightXML, folder: Folder) -> TextReader | None:
    """Who reads for recall where ranking has an encoder of its own (BS); older folders hold its weights as heads."""
    if folder.has(_FIRST):
        return open_reader(model.config.encoder, folder.path / _FIRST, model.layers, model.runtime)
    if model.config.negatives != "static-tuned" or model.tree.levels == 1:
        return None
    from treetop.methods.tuning.lightxml import older_first_reader

    return older_first_reader(model, folder)


_FIRST = "first_encoder"
_RECALL_READER = Part(
    "recall_reader",
    write=lambda reader, folder: reader.save(folder.path / _FIRST),
    read=_open_recall_reader,
)


class LightXML(FineTuned[LightXMLConfig]):
    """LightXML; `checkpoint` is a folder that an interrupted `fit` continues from."""

    name = "lightxml"
    tree: LabelTree
    config_class = LightXMLConfig
    parts = (TREE, reader_part(lambda model: model.layers), _RECALL_READER, heads_part(lambda model: _shapes(model)))
    memory_advice = f"{FineTuned.memory_advice} Many labels need mode=groups, or fewer layers."

    def _learn(self, train: Dataset, sharing: Sharing) -> None:
        from treetop.methods.tuning.lightxml import Tuning
        from treetop.neural.networks import hold_out

        learn, dev = hold_out(train, self.config.dev_share, self.runtime.seed)
        self.tree = self._part("tree", sharing, lambda: self._group(learn))
        tuning = Tuning(self.config, self.layers, self.tree, self.runtime, sharing, self.checkpoint)
        readings = tuning.read(texts_of(learn.corpus))
        tuning.run(readings, binarise(learn.labels), self._watch(dev, lambda: self._show(tuning.network)))
        self._show(tuning.network)
        self.reader, self.logs = readings.reader, tuning.logs
        first = tuning.network.first_encoder
        self.recall_reader = None if first is None else export_reader(first, self.layers, readings.tokens, self.runtime)

    def _show(self, network: Network) -> None:
        """Predict as a network would that may still be learning."""
        from treetop.text.reading.torch_reader import EncoderReader

        first, runtime = network.first_encoder, self.runtime
        self.reader = EncoderReader(network.encoder, network.layers, runtime)
        self.recall_reader = None if first is None else EncoderReader(first, network.layers, runtime)
        self.heads = Heads.of(network)

    def layers(self, depth: int) -> range:
        """The last layers of an encoder that has so many."""
        return range(max(1, depth + 1 - self.config.layers), depth + 1)

    def _group(self, train: Dataset) -> LabelTree:
        """Two levels, groups and labels; one in flat mode."""
        from treetop.text.encoder import size_of

        if self._flat(len(train.space), size_of(self.config.encoder)):
            return LabelTree.flat(len(train.space))
        cores, seed = self.runtime.cores, self.runtime.seed
        with self.runtime.bar("tf-idf"):
            wanted = self.config.features
            _, features = fit_bag_of_words(self.config.tfidf, train.corpus, features=wanted, threads=cores)
        with self.runtime.bar("grow tree"):
            tree = tree_on("pifa-plain", features, train, self.config.tree, seed=seed, threads=cores)
        check_groups(tree, self.config.tree, "mode=flat and negatives=dynamic do without groups")
        return tree.keep([] if tree.levels == 1 else [tree.levels - 2])

    def _flat(self, labels: int, encoder: EncoderSize) -> bool:
        if self.config.mode == "auto":
            return labels * self._width(encoder) <= FLAT_WEIGHTS and self.config.negatives == "dynamic"
        return self.config.mode == "flat"

    def _width(self, encoder: EncoderSize) -> int:
        return encoder.width * min(self.config.layers, encoder.layers)

    @property
    def has_beam(self) -> bool:
        """Only where there are groups to keep."""
        return self.tree.levels > 1

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        tokens = self.reader.tokenize(texts_of(corpus), runtime=self.runtime)
        return in_turn(tokens, lambda some: self._search(some, ask))

    def _search(self, tokens: Tokens, ask: Ask) -> Predictions:
        """A label's score is its own times its group's."""
        runtime, ranking = self.runtime, self.heads.level("ranking", squash=self.config.squash)
        within = None if ask.allowed is None else self.tree.branches(ask.allowed)
        allowed, states = None if within is None else within[0], self.reader.read(tokens, runtime)
        if self.tree.levels == 1:
            labels, margins = ranking.ranked(states, ask.k, runtime, allowed=allowed)
            return Predictions(labels, np.where(labels < 0, 0, sigmoid(margins)))
        recalled = states if self.recall_reader is None else self.recall_reader.read(tokens, runtime)
        groups = self.heads.level("recall").best(recalled, ask.beam or self.config.beam, runtime, allowed=allowed)
        groups.data = sigmoid(groups.data)
        shortlist = self.tree.expand(groups, 1)
        shortlist = shortlist if within is None else only_columns(shortlist, within[1])
        scores = ranking.at(states, shortlist, runtime)
        scores.data = sigmoid(scores.data) * shortlist.data
        return Predictions.from_csr(scores, ask.k)

    def _account(self, corpus: Corpus, label: int) -> Account:
        ranking, text = Row(self.heads.level("ranking", squash=self.config.squash), label), texts_of(corpus)[0]
        if self.tree.levels == 1:
            return account_of_rows(self.reader, [ranking], [Node(0, 0, label)], np.ones(1), text, self.runtime)
        group = self.tree.path(label)[0]
        rows, nodes = [Row(self.heads.level("recall"), group), ranking], [Node(0, 0, group), Node(0, 1, label)]
        if self.recall_reader is None:
            return account_of_rows(self.reader, rows, nodes, np.ones(2), text, self.runtime)
        of_group, of_label = (
            account_of_rows(reader, [row], [node], np.ones(1), text, self.runtime)
            for reader, row, node in zip((self.recall_reader, self.reader), rows, nodes, strict=True)
        )
        return chained(of_group, of_label, np.ones(2))

    def describe(self) -> dict[str, Any]:
        """Widths of the levels, and the encoder."""
        return {"levels": " > ".join(f"{width:,}" for width in self.tree.widths), "encoder": self.config.encoder.name}

    def label_tree(self) -> LabelTree | None:
        """The groups."""
        return self.tree

    def _tuning(self, sizes: Sizes, costs: EncoderCosts) -> list[Stage]:
        c, flat = self.config, self._flat(sizes.labels, costs.size)
        costs, heads = costs.of(round(sizes.texts * (1 - c.dev_share))), self._heads(sizes.labels, costs.size)
        weigh, sizes = weighing(sizes, c.tfidf)
        stages = [*([] if flat else [weigh, growing(sizes, c.tree)]), *costs.opening()]
        if c.bootstrap == "linear":
            stages += [costs.reading(), costs.starting(heads[0].rows, heads[0].width)]
        tune = costs.learning(c.optim, heads, dev_share=c.dev_share)
        in_turn = [] if flat or c.negatives == "dynamic" else [costs.reading(), tune]
        return [*stages, tune, *in_turn]

    def _heads(self, labels: int, encoder: EncoderSize) -> list[Head]:
        from treetop.neural.memory import Head

        width = self._width(encoder)
        if self._flat(labels, encoder):
            return [Head(labels, width, by_rows=False, full=self.config.by_chunks(labels))]
        groups = Head(2 * labels // self.config.tree.max_leaf + 1, width, by_rows=False)
        return [groups, Head(labels, self.config.bottleneck or width)]


def _shapes(model: LightXML) -> Shapes:
    width, c = model.reader.width * len(model.reader.layers), model.config
    if model.tree.levels == 1:
        return level_shapes("ranking", model.tree.widths[0], width)
    groups, labels = model.tree.widths
    of_labels = level_shapes("ranking", labels, width, bottleneck=c.bottleneck, bias=False)
    return level_shapes("recall", groups, width) | of_labels

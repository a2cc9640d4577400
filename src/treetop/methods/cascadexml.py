"""CascadeXML: one encoder pass, and a different layer of it for each level of the label tree.

Kharbanda, Banerjee, Schultheis, Babbar: CascadeXML, NeurIPS 2022.

1. Labels are grouped into a tree of a few levels (PIFA on tf-idf, balanced 2-means).
2. Early layers of the encoder feed coarse levels, late layers fine ones; the last layer feeds the labels.
3. Level 0 scores all its nodes; every other level scores the children of the best nodes above, and in training of the
   true ones (teacher forcing): multi-resolution dynamic shortlists.
4. All levels learn together: a weighted sum of cross-entropies, re-scaled by the size of the shortlists.
5. Optionally, a one-vs-all linear model on tf-idf ⊕ embedding votes too, or ranks alone (`sparse`, `linear_share`).

| paper            | here                                         |
|------------------|----------------------------------------------|
| R^(t), K_t       | level t, `tree.widths[t]`                    |
| θ^(t), Φ_CLS^(a) | `features(states, t)`, layer a of the encoder |
| S^(t), Top_k     | shortlist, `beams`; eq. 3: `forcing`        |
| R↑(y), R↓(S)     | `tree.lift`, `expand`                        |
| α^(t)            | `rescale`                                    |
| W^(t)            | `scorers[t]`                                 |

Known differences from the paper: true nodes join a shortlist with their siblings, as in the authors' code, where eq.
3 adds them alone (`forcing="nodes"`, as in the presets). Known differences from the authors' code: a true node is
never lost, however many there are; padding is marked, not recognised by a logit of zero; special tokens are the
tokenizer's own; the encoder may have any number of layers; nodes may have any number of children; every node begins
as likely as it is (`bootstrap="none"`: as likely as not); beta1 stays where it is, where theirs cycles
(`optim.cycle_beta1`); the best epoch is chosen on held-out training texts, never on the test set; attention weights
are not dropped (`encoder.attention_dropout`); how fast levels learn follows from the size of the encoder's states,
where theirs learn ten times as fast as the encoder (`optim.head_lr_factor`). Loss re-scaling, which the paper has
(eq. 5) and the code has not, is on; averaging label features over labels that occur together, which the code has and
the paper has not, is a switch (`smooth`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from treetop.config import settle
from treetop.data import Corpus, Dataset
from treetop.errors import ConfigError
from treetop.labels import LabelTree, TreeConfig, grow_tree, smoothed_pifa
from treetop.linear import LinearTree, LinearTreeConfig, SearchConfig, SolverConfig
from treetop.linear.dense_level import Affine, sigmoid
from treetop.methods.bag import FeatureSource, bag_of_words, texts_of
from treetop.methods.costs import Sizes, growing, planned_widths, ranking_level, weighing
from treetop.methods.explaining.account import Account, Node, account_of_trees, mixed
from treetop.methods.explaining.encoders import Row, account_of_rows, unit_times, with_encoder
from treetop.methods.fine_tuned import FineTuned, in_turn, reader_part
from treetop.methods.heads import Heads, Shapes, affine_shapes, heads_part, level_shapes
from treetop.methods.label_features import tree_on
from treetop.methods.parts import TFIDF_IF_TEXTS, TREE, linear_tree
from treetop.neural.settings import Divisor, OptimConfig, check_watched
from treetop.predictions import Ask, Predictions, fuse
from treetop.progress import Stage
from treetop.sparse import Joined, binarise, from_parts, join, normalise, only_columns, take_entries, top_k
from treetop.text import TfidfConfig
from treetop.text.encoder_config import EncoderConfig
from treetop.types import CSR, Dense, Texts

if TYPE_CHECKING:
    from treetop.methods.tuning.cascadexml import Network
    from treetop.neural.costs import EncoderCosts
    from treetop.neural.memory import Head
    from treetop.neural.sharing import Sharing
    from treetop.text.encoder import EncoderSize

__all__ = ["CascadeXML", "CascadeXMLConfig", "automatic_layers", "beams_of", "layer_map", "level_features"]

_KEPT = 50  # Labels of each model that are fused: shorter lists would punish what one ranks just below its cut.


def _one_vs_all() -> LinearTreeConfig:
    search = SearchConfig(link="sigmoid", combine="last")
    return LinearTreeConfig(solver=SolverConfig(threshold=0.01), search=search)


@dataclass(frozen=True, kw_only=True, slots=True)
class CascadeXMLConfig:
    """Levels of a tree on layers of an encoder."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    """The text encoder."""
    optim: OptimConfig = field(
        default_factory=lambda: OptimConfig(
            lr=1e-4, head_lr_factor=0.0, weight_decay=0.05, head_weight_decay=0.005, schedule="one_cycle", epochs=10,
            batch_size=64, warmup=0.1, cool_down=0.2, clip=0.0,
        )
    )  # fmt: skip
    """The training: by default two learning rates and the paper's three phases."""
    tfidf: TfidfConfig = field(default_factory=TfidfConfig)
    """Features that labels are grouped by, and that `sparse` ranks with."""
    features: FeatureSource = "auto"
    """Tf-idf of the texts, features given beside them, or both; "auto": the given ones if a benchmark ships them."""
    tree: TreeConfig = field(default_factory=lambda: TreeConfig(max_leaf=16, branching=8, top_width=256))
    """The levels."""
    smooth: bool = False
    """Group labels by features averaged over labels that occur together, as the authors' code does (ECLARE's graph)."""
    layers: tuple[tuple[int, ...], ...] = ()
    """Encoder layers joined for each level, as ((5, 6), (8,), (10,), (12,)); empty spreads the last half of them."""
    dropouts: tuple[float, ...] = (0.2, 0.5)
    """Dropout on the features of each level; two values mean the first and the last, the others evenly between."""
    beams: tuple[int, ...] = (64,)
    """Nodes kept after each level above the labels; the last number serves all further levels."""
    forcing: Literal["parents", "nodes"] = "parents"
    """What is added to a shortlist in training: the true nodes with all their siblings, as their parents are kept (the
    code), or the true nodes alone (eq. 3)."""
    rescale: bool = True
    """Weigh the loss of a level by the size of its shortlist over the smallest (eq. 5)."""
    divide_by: Divisor = "real"
    """What a text's loss at a level is divided by; see `neural.losses`."""
    scores: Literal["parent", "leaf", "path"] = "parent"
    """A label's score: times its parent's, its own alone (the authors' two schemes), or times its whole path's."""
    sparse: bool = False
    """Add the votes of a linear one-vs-all model on tf-idf ⊕ embedding."""
    linear: LinearTreeConfig = field(default_factory=_one_vs_all)
    """That model."""
    linear_share: float = 0.5
    """Its share in a label's score; with 1 it ranks alone, as in the paper's appendix A.3."""
    bootstrap: Literal["linear", "prior", "none"] = "prior"
    """Where every level begins: a linear solution on its features of the untuned encoder, or at random, with biases
    that say how often a node is true among its shortlist ("prior") or with none."""
    dev_share: float = 0.0
    """Share of the training texts held out to choose the best weights by; 0 keeps the last."""

    def __post_init__(self) -> None:
        settle(self)
        if not self.beams or min(self.beams) < 1:
            raise ConfigError(f"beams are {self.beams}; keep at least one node at each level")
        if not self.dropouts or not all(0 <= p < 1 for p in self.dropouts):
            raise ConfigError(f"dropouts are {self.dropouts}; each must be from 0 to below 1")
        if not 0 < self.linear_share <= 1:
            raise ConfigError(f"linear_share is {self.linear_share}; it must be above 0 and at most 1")
        if not 0 <= self.dev_share < 1:
            raise ConfigError(f"dev_share is {self.dev_share}; it must be from 0 to below 1")
        check_watched(self.optim, self.dev_share)


def automatic_layers(encoder_layers: int, levels: int) -> tuple[tuple[int, ...], ...]:
    """The paper's map for 12 layers, scaled: labels on the last, each coarser level a sixth of the encoder earlier.

    The coarsest of several levels joins two layers. 12 layers and 4 levels: (5, 6), (8), (10), (12).
    """
    ends = [max(1, encoder_layers - round(up * encoder_layers / 6)) for up in range(levels - 1, -1, -1)]
    first = (ends[0] - 1, ends[0]) if levels > 1 and ends[0] > 1 else (ends[0],)
    return (first, *((end,) for end in ends[1:]))


def _joined(features: CSR, embedding: Dense) -> Joined:
    return join(normalise(features), normalise(embedding))


def layer_map(config: CascadeXMLConfig, depth: int, levels: int) -> tuple[tuple[int, ...], ...]:
    """The layers that each level sees, of an encoder that has so many."""
    return config.layers or automatic_layers(depth, levels)


def beams_of(config: CascadeXMLConfig, levels: int) -> list[int]:
    """Nodes kept after each level above the labels."""
    return [config.beams[min(level, len(config.beams) - 1)] for level in range(levels - 1)]


def level_features(states: Dense, layers: Sequence[int], joined: Sequence[int], before: Affine | None) -> Dense:
    """What a level sees of the states after some layers, side by side: those of its own, through its linear map."""
    width = states.shape[1] // len(layers)
    starts = [width * layers.index(layer) for layer in joined]
    own = np.concatenate([states[:, start : start + width] for start in starts], 1)
    return own if before is None else before(own)


class CascadeXML(FineTuned[CascadeXMLConfig]):
    """CascadeXML; `checkpoint` is a folder that an interrupted `fit` continues from."""

    name = "cascadexml"
    config_class = CascadeXMLConfig
    tree: LabelTree
    linear: LinearTree | None
    parts = (
        TREE,
        reader_part(lambda model: model.layers),
        heads_part(lambda model: _shapes(model)),
        TFIDF_IF_TEXTS,
        linear_tree("linear", lambda config: config.linear.search, optional=True),
    )

    def _learn(self, train: Dataset, sharing: Sharing) -> None:
        from treetop.methods.tuning.cascadexml import Tuning
        from treetop.neural.networks import hold_out

        learn, dev = hold_out(train, self.config.dev_share, self.runtime.seed)
        features = self._weigh(learn, sharing)
        self.tree = self._part("tree", sharing, lambda: self._grow(features, learn))
        self.tfidf, self.linear = self.tfidf if self.config.sparse else None, None
        tuning = Tuning(self.config, self.layers, self.tree, self.runtime, sharing, self.checkpoint)
        readings = tuning.read(texts_of(learn.corpus))
        log = tuning.run(readings, binarise(learn.labels), self._watch(dev, lambda: self._show(tuning.network)))
        self._show(tuning.network)
        self.logs = [log]
        if self.config.sparse:
            states = readings.states(final=True)
            self.linear = self._part("linear", sharing, lambda: self._rank_linearly(states, features, learn.labels))
        self.reader = readings.reader

    def _grow(self, features: CSR, train: Dataset) -> LabelTree:
        cores, seed = self.runtime.cores, self.runtime.seed
        with self.runtime.bar("grow tree"):
            if not self.config.smooth:
                return tree_on("pifa-plain", features, train, self.config.tree, seed=seed, threads=cores)
            representation = smoothed_pifa(features, train.labels, seed=seed, threads=cores)
            return grow_tree(representation, self.config.tree, seed=seed, threads=cores)

    def _show(self, network: Network) -> None:
        """Predict as a network would that may still be learning."""
        from treetop.text.reading.torch_reader import EncoderReader

        encoder = network.encoder
        self.reader = EncoderReader(encoder, self.layers(encoder.layers), self.runtime)
        self.heads = Heads.of(network)

    def layers(self, depth: int) -> list[int]:
        """What is read of an encoder that has so many: all that levels see, and the last if it is ranked with."""
        seen = {layer for joined in layer_map(self.config, depth, self.tree.levels) for layer in joined}
        return sorted(seen | ({depth} if self.config.sparse else set()))

    def _rank_linearly(self, states: Dense, features: CSR, labels: CSR) -> LinearTree:
        """The paper's appendix A.3: squared hinge, one label against all texts, on [embedding, tf-idf]."""
        joined = _joined(features, self._embedding(states))
        return LinearTree.fit(joined, labels, self.tree.keep([]), self.config.linear, runtime=self.runtime)

    def _embedding(self, states: Dense) -> Dense:
        """The last layer's, of the states of all layers that are read."""
        return states[:, -self.reader.width :]

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        tokens = self.reader.tokenize(texts_of(corpus), runtime=self.runtime)
        if self.linear is None:
            return in_turn(tokens, lambda some: self._search(self.reader.read(some, self.runtime), ask)[0])
        states, share = self.reader.read(tokens, self.runtime), self.config.linear_share
        features = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=self.runtime.cores)
        joined = _joined(features, self._embedding(states))
        if share == 1:
            return self.linear.predict(joined, ask.k, allowed=ask.allowed, runtime=self.runtime)
        wide = ask.wider(_KEPT, self.tree.widths[-1])
        of_linear = self.linear.predict(joined, wide.k, allowed=ask.allowed, runtime=self.runtime)
        return fuse([self._search(states, wide)[0], of_linear], "average", weights=(1 - share, share), k=ask.k)

    def _search(self, states: Dense, ask: Ask) -> tuple[Predictions, list[CSR]]:
        """From level to level: the labels that are reached, and the nodes kept at each level above."""
        trail: list[CSR] = []
        within = None if ask.allowed is None else self.tree.branches(ask.allowed)
        for level, joined in enumerate(layer_map(self.config, self.reader.depth, self.tree.levels)):
            before = self.heads.affine(f"joins.{level}.1") if len(joined) > 1 else None
            features = level_features(states, self.reader.layers, joined, before)
            own, path = self._score(level, features, trail, None if within is None else within[level], ask)
            if level < self.tree.levels - 1:
                best = top_k(own, ask.beam or beams_of(self.config, self.tree.levels)[level])
                trail.append(take_entries(path, best) if self.config.scores == "path" else best)
        return Predictions.from_csr(path, ask.k), trail

    def _score(
        self, level: int, features: Dense, trail: list[CSR], allowed: NDArray[np.bool_] | None, ask: Ask
    ) -> tuple[CSR, CSR]:
        """Scores of the nodes of a level: their own, and those that the chosen scheme makes of the path to them."""
        scorer = self.heads.level(f"scorers.{level}")
        if not trail:
            most = ask.k if self.tree.levels == 1 else ask.beam or self.config.beams[0]
            own = scorer.best(features, most, self.runtime, allowed=allowed)
            own.data = sigmoid(own.data)
            return own, own
        shortlist = self.tree.expand(trail[-1], level)
        shortlist = shortlist if allowed is None else only_columns(shortlist, allowed)
        own = scorer.at(features, shortlist, self.runtime)
        own.data = sigmoid(own.data)
        if self.config.scores == "leaf":
            return own, own
        return own, from_parts(own.indptr, own.indices, own.data * shortlist.data, columns=own.shape[1])

    def _account(self, corpus: Corpus, label: int) -> Account:
        share = self.config.linear_share
        if self.linear is None:
            return self._account_of_network(corpus, label)
        of_linear = self._account_of_linear(self.linear, corpus, label)
        if share == 1:
            return of_linear
        return mixed([(1 - share, "network", self._account_of_network(corpus, label)), (share, "linear", of_linear)])

    def _account_of_network(self, corpus: Corpus, label: int) -> Account:
        """The margins of the levels; those above count if a label's score is times theirs."""
        last, path = self.tree.levels - 1, self.tree.path(label)
        first = {"leaf": last, "parent": max(0, last - 1), "path": 0}[self.config.scores]
        numbers = np.arange(self.reader.width * len(self.reader.layers), dtype=np.float32)[None]
        rows = []
        for level, joined in enumerate(layer_map(self.config, self.reader.depth, self.tree.levels)):
            join = self.heads.affine(f"joins.{level}.1") if len(joined) > 1 else None
            columns = level_features(numbers, self.reader.layers, joined, None)[0].astype(np.int64)
            rows.append(Row(self.heads.level(f"scorers.{level}"), path[level], columns, join))
        nodes = [Node(0, level, node) for level, node in enumerate(path)]
        shares = (np.arange(self.tree.levels) >= first).astype(np.float64)
        return account_of_rows(self.reader, rows, nodes, shares, texts_of(corpus)[0], self.runtime)

    def _account_of_linear(self, linear: LinearTree, corpus: Corpus, label: int) -> Account:
        text, reader = texts_of(corpus)[0], self.reader
        states = reader.read(reader.tokenize([text], runtime=self.runtime), self.runtime)
        words = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=1)
        features = _joined(words, self._embedding(states))
        account, margins = account_of_trees([linear], text, features, label, self.tfidf)
        numbers = unit_times([margin.weights for margin in margins])
        return with_encoder(account, reader, (reader.depth,), numbers, text, self.runtime)

    def shortlists(self, texts: Texts) -> list[CSR]:
        """The nodes that search keeps at each level above the labels: 1 where (text, node) is kept."""
        states = self.reader.read(self.reader.tokenize(texts, runtime=self.runtime), self.runtime)
        return [binarise(kept) for kept in self._search(states, Ask(1))[1]]

    def describe(self) -> dict[str, Any]:
        """Widths of the levels, the encoder's layers for each, and the encoder."""
        levels = " > ".join(f"{width:,}" for width in self.tree.widths)
        return {
            "levels": levels,
            "layers": str(layer_map(self.config, self.reader.depth, self.tree.levels)),
            "encoder": self.config.encoder.name,
        }

    def label_tree(self) -> LabelTree | None:
        """The levels."""
        return self.tree

    def _linear_trees(self) -> int:
        return int(self.config.sparse)

    def _tuning(self, sizes: Sizes, costs: EncoderCosts) -> list[Stage]:
        c, heads = self.config, self._heads(sizes.labels, costs.size)
        costs = costs.of(round(sizes.texts * (1 - c.dev_share)))
        weigh, sizes = weighing(sizes, c.tfidf)
        stages = [weigh, growing(sizes, c.tree), *costs.opening()]
        if c.bootstrap == "linear":
            stages += [costs.reading(), *self._starts(sizes, costs)]
        stages.append(costs.learning(c.optim, heads, dev_share=c.dev_share))
        if c.sparse:
            stages += [costs.reading(), ranking_level(sizes, 1, sizes.labels, level=0, beam=0)]
        return stages

    def _starts(self, sizes: Sizes, costs: EncoderCosts) -> list[Stage]:
        widths = planned_widths(sizes.labels, self.config.tree)
        beams = [self.config.beams[min(level, len(self.config.beams) - 1)] for level in range(len(widths))]
        found = [min(1.0, beam / width) for beam, width in zip(beams, widths, strict=True)]
        return [costs.starting(width * share) for width, share in zip(widths, (1.0, *found), strict=False)]

    def _heads(self, labels: int, encoder: EncoderSize) -> list[Head]:
        from treetop.neural.memory import Head

        # Each coarser level is at most half as wide as the next, so all together have at most twice the last's nodes.
        inner = 2 * labels // self.config.tree.max_leaf + 1
        return [Head(labels, encoder.width), Head(2 * inner, encoder.width)]


def _shapes(model: CascadeXML) -> Shapes:
    width = model.reader.width
    found: Shapes = {}
    for level, joined in enumerate(layer_map(model.config, model.reader.depth, model.tree.levels)):
        found |= level_shapes(f"scorers.{level}", model.tree.widths[level], width)
        if len(joined) > 1:
            found |= affine_shapes(f"joins.{level}.1", width, len(joined) * width)
    return found

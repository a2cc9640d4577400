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
| S^(t), Top_k     | shortlist, `beams`                          |
| R↑(y), R↓(S)     | `tree.lift`, `expand`                        |
| α^(t)            | `rescale`                                    |
| W^(t)            | `scorers[t]`                                 |

Known differences from the authors' code: a true node is never lost, however many there are; padding is marked, not
recognised by a logit of zero; special tokens are the tokenizer's own; the encoder may have any number of layers; nodes
may have any number of children; every node begins as likely as it is (`bootstrap="none"`: as likely as not); beta1
stays where it is, where theirs cycles (`optim.cycle_beta1`); the best epoch is chosen on held-out training texts, never
on the test set; attention weights are not dropped (`encoder.attention_dropout`); how fast levels learn follows from the
size of the encoder's states, where theirs learn ten times as fast as the encoder (`optim.head_lr_factor`). Loss
re-scaling, which the paper has (eq. 5) and the code has not, is on; averaging label features over labels that occur
together, which the code has and the paper has not, is a switch (`smooth`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from treetop.config import settle
from treetop.data import Corpus, Dataset
from treetop.errors import ConfigError
from treetop.labels import LabelTree, TreeConfig, grow_tree, pifa, smoothed_pifa
from treetop.linear import LinearTree, LinearTreeConfig, SearchConfig, SolverConfig
from treetop.methods.bag import FeatureSource, bag_of_words, fit_bag_of_words, texts_of
from treetop.methods.costs import Sizes, growing, planned_widths, ranking_level, weighing
from treetop.methods.fine_tuned import FineTuned, network_part
from treetop.methods.parts import TFIDF_IF_TEXTS, TREE, linear_tree
from treetop.neural.costs import EncoderCosts
from treetop.neural.examples import Batch, Examples
from treetop.neural.losses import bce
from treetop.neural.memory import Head
from treetop.neural.networks import find_nodes, hold_out, limits_of, node_frequencies, rank, seeded
from treetop.neural.optimiser import Group, group_parameters
from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import Divisor, OptimConfig, check_watched
from treetop.neural.shortlist import Children, Limits, expand, expand_scores, pick, targets
from treetop.neural.starting import start_linearly
from treetop.neural.training import TrainingLog, fine_tune
from treetop.predictions import Ask, Predictions, fuse
from treetop.progress import Stage
from treetop.sparse import Joined, binarise, join, normalise, union
from treetop.text import TfidfConfig
from treetop.text.encoder import EncoderConfig, EncoderSize, TextEncoder, read_all
from treetop.text.tokens import Padded, Tokens
from treetop.types import CSR, Dense, Texts

__all__ = ["CascadeXML", "CascadeXMLConfig", "automatic_layers"]

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


class Network(nn.Module):
    """The encoder and, for each level, features and a scorer."""

    def __init__(self, config: CascadeXMLConfig, encoder: TextEncoder, tree: LabelTree) -> None:
        super().__init__()
        self.config, self.encoder, self.levels = config, encoder, tree.levels
        self.map = config.layers or automatic_layers(encoder.layers, tree.levels)
        _check_levels(config, self.map, encoder, tree)
        self.layers = sorted({layer for joined in self.map for layer in joined})
        width = encoder.width
        self.joins = nn.ModuleList(
            nn.Sequential(nn.Dropout(0.2), nn.Linear(len(joined) * width, width)) if len(joined) > 1 else nn.Identity()
            for joined in self.map
        )
        self.dropouts = nn.ModuleList(nn.Dropout(p) for p in _spread(config.dropouts, tree.levels))
        self.scorers = nn.ModuleList(NodeScorer(n, width, by_rows=t > 0) for t, n in enumerate(tree.widths))
        self.below = nn.ModuleList(Children(*tree.children(level)) for level in range(1, tree.levels))
        self.beams = [config.beams[min(level, len(config.beams) - 1)] for level in range(tree.levels - 1)]
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

    def read(self, tokens: Padded) -> Tensor:
        """The features of all levels side by side: (texts, levels · width)."""
        states: Tensor = self.encoder(tokens, self.layers)
        return torch.cat([self.features(states, level) for level in range(self.levels)], 1)

    def loss(self, batch: Batch) -> Tensor:
        """Eq. 5: the sum over levels of the weighted cross-entropy over the shortlist."""
        states: Tensor = self.encoder(batch.tokens, self.layers)
        shortlist, total = None, states.new_zeros(())
        for level, scorer in enumerate(self.scorers):
            logits = scorer(self.features(states, level), shortlist)
            hit = targets(batch.true[level].ids, shortlist, scorer.nodes)  # type: ignore[arg-type]
            total = total + self.weights[level] * bce(logits, hit, shortlist, self.config.divide_by)
            if level < self.levels - 1:
                best, _ = pick(logits, shortlist, self.beams[level], force=hit)
                shortlist = expand(best, self.below[level])  # type: ignore[arg-type]
        return total

    def score(
        self, tokens: Padded, rows: NDArray[np.int64], limits: Limits | None = None
    ) -> tuple[Tensor | None, Tensor]:
        """The labels that the search reaches, and their scores under the chosen scheme."""
        del rows
        return self._search(self.encoder(tokens, self.layers), [], limits)

    def score_and_keep(
        self, embedding: Dense, tokens: Padded, rows: NDArray[np.int64], limits: Limits | None = None
    ) -> tuple[Tensor | None, Tensor]:
        """The same, and the last layer's states of the texts are put into their rows of `embedding`."""
        states: Tensor = self.encoder(tokens, (*self.layers, -1))
        embedding[rows] = states[-1].float().cpu().numpy()
        return self._search(states[:-1], [], limits)

    def kept(self, level: int, tokens: Padded, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The nodes that the search keeps at a level above the labels, each with a one."""
        del rows
        trail: list[Tensor] = []
        self._search(self.encoder(tokens, self.layers), trail)
        return trail[level], torch.where(trail[level] < 0, -torch.inf, 1.0)

    def _search(
        self, states: Tensor, trail: list[Tensor], limits: Limits | None = None
    ) -> tuple[Tensor | None, Tensor]:
        """From level to level; the nodes kept at each are put into `trail`."""
        shortlist, above, limits = None, None, limits or Limits()
        for level, scorer in enumerate(self.scorers):
            own = scorer(self.features(states, level), shortlist).sigmoid()
            own = limits.scores(own, 0) if shortlist is None else own
            path = own if above is None or self.config.scores == "leaf" else own * above
            if level < self.levels - 1:
                passes_on = path if self.config.scores == "path" else own
                best, passed = pick(own, shortlist, limits.beam or self.beams[level], carry=passes_on)
                trail.append(best)
                shortlist, above = expand_scores(best, passed, self.below[level])  # type: ignore[arg-type]
                shortlist = limits.shortlist(shortlist, level + 1)
        return shortlist, path

    def parameter_groups(self, config: OptimConfig) -> list[Group]:
        """The encoder, and everything else at its own rate."""
        return group_parameters(self, self.encoder, config)


def _joined(features: CSR, embedding: Dense) -> Joined:
    return join(normalise(features), normalise(embedding))


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


class CascadeXML(FineTuned[CascadeXMLConfig]):
    """CascadeXML; `checkpoint` is a folder that an interrupted `fit` continues from."""

    name = "cascadexml"
    config_class = CascadeXMLConfig
    linear: LinearTree | None
    parts = (
        TREE,
        network_part(lambda model, encoder: Network(model.config, encoder, model.tree)),
        TFIDF_IF_TEXTS,
        linear_tree("linear", lambda config: config.linear.search, optional=True),
    )

    def _learn(self, train: Dataset) -> None:
        learn, dev = hold_out(train, self.config.dev_share, self.runtime.seed)
        cores, seed = self.runtime.cores, self.runtime.seed
        with self.runtime.bar("tf-idf"):
            tfidf, features = fit_bag_of_words(
                self.config.tfidf, learn.corpus, features=self.config.features, threads=cores
            )
        represent = partial(smoothed_pifa, seed=seed) if self.config.smooth else partial(pifa, normalise_labels=False)
        with self.runtime.bar("grow tree"):
            representation = represent(features, learn.labels, threads=cores)
            self.tree = grow_tree(representation, self.config.tree, seed=seed, threads=cores)
        with seeded(seed):
            self.network = Network(self.config, TextEncoder.load(self.config.encoder), self.tree)
        self.network.to(self.runtime.device)
        encoder, lowest = self.network.encoder, self.network.layers[0]
        tokens = encoder.tokenize(texts_of(learn.corpus), self.checkpoint, self.runtime)
        tokens = encoder.keep_frozen(tokens, self.checkpoint, self.runtime, lowest_wanted=lowest)
        self.tfidf, self.linear = tfidf if self.config.sparse else None, None
        self.logs = [self._train(tokens, binarise(learn.labels), dev)]
        if self.config.sparse:
            self.linear = self._rank_linearly(tokens, features, learn.labels)

    def _train(self, tokens: Tokens, true: CSR, dev: Dataset | None) -> TrainingLog:
        levels = [self.tree.lift(true, level) for level in range(self.tree.levels)]
        if self.config.bootstrap == "linear":
            self._begin(tokens, [binarise(level) for level in levels])
        elif self.config.bootstrap == "prior":
            self.network.expect(levels, self.tree)
        examples = Examples(tokens, levels)
        folder, watch = None if self.checkpoint is None else self.checkpoint / "network", self._watch(dev)
        return fine_tune(self.network, examples, self.config.optim, self.runtime, watch=watch, checkpoint=folder)

    def _begin(self, tokens: Tokens, true: list[CSR]) -> None:
        """Level by level, against the shortlist that the levels above find (XR-Transformer, eq. 11; logistic loss)."""
        network, tree, runtime = self.network, self.tree, self.runtime
        shortlist: CSR | None = None
        found: CSR | None = None
        width = network.levels * network.encoder.width
        of_levels = np.split(read_all(network, network.read, width, tokens, runtime), network.levels, axis=1)
        for level, scorer in enumerate(network.scorers):
            assert isinstance(scorer, NodeScorer)
            features = np.ascontiguousarray(of_levels[level])
            start_linearly(scorer, features, true[level], shortlist, tree, level, runtime, loss="bce")
            if level + 1 < network.levels:
                beam, below = network.beams[level], network.below[level - 1] if level else None
                found = find_nodes(scorer, features, beam, runtime, link="sigmoid", found=found, below=below)  # type: ignore[arg-type]
                shortlist = union(true[level], binarise(found))

    def _rank_linearly(self, tokens: Tokens, features: CSR, labels: CSR) -> LinearTree:
        """The paper's appendix A.3: squared hinge, one label against all texts, on [embedding, tf-idf]."""
        joined = _joined(features, self.network.encoder.embed(tokens, self.runtime))
        return LinearTree.fit(joined, labels, self.tree.keep([]), self.config.linear, runtime=self.runtime)

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        network, share, runtime = self.network, self.config.linear_share, self.runtime
        tokens = network.encoder.tokenize(texts_of(corpus), runtime=runtime)
        limits = limits_of(ask, self.tree)
        if self.linear is None:
            return rank(partial(network.score, limits=limits), tokens, ask.k, runtime)
        features = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=runtime.cores)
        if share == 1:
            joined = _joined(features, network.encoder.embed(tokens, runtime))
            return self.linear.predict(joined, ask.k, allowed=ask.allowed, runtime=runtime)
        wide = ask.wider(_KEPT, self.tree.widths[-1]).k
        embedding = np.empty((len(tokens), network.encoder.width), np.float32)
        of_network = rank(partial(network.score_and_keep, embedding, limits=limits), tokens, wide, runtime)
        of_linear = self.linear.predict(_joined(features, embedding), wide, allowed=ask.allowed, runtime=runtime)
        return fuse([of_network, of_linear], "average", weights=(1 - share, share), k=ask.k)

    def shortlists(self, texts: Texts) -> list[CSR]:
        """The nodes that search keeps at each level above the labels: 1 where (text, node) is kept."""
        tokens = self.network.encoder.tokenize(texts, runtime=self.runtime)
        return [
            rank(partial(self.network.kept, level), tokens, beam, self.runtime).to_csr(self.tree.widths[level])
            for level, beam in enumerate(self.network.beams)
        ]

    def describe(self) -> dict[str, Any]:
        """Widths of the levels, the encoder's layers for each, and the encoder."""
        levels = " > ".join(f"{width:,}" for width in self.tree.widths)
        return {"levels": levels, "layers": str(self.network.map), "encoder": self.config.encoder.name}

    def label_tree(self) -> LabelTree | None:
        """The levels."""
        return self.tree

    def _linear_trees(self) -> int:
        return int(self.config.sparse)

    def _text_encoder(self) -> TextEncoder:
        return self.network.encoder

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
        # Each coarser level is at most half as wide as the next, so all together have at most twice the last's nodes.
        inner = 2 * labels // self.config.tree.max_leaf + 1
        return [Head(labels, encoder.width), Head(2 * inner, encoder.width)]

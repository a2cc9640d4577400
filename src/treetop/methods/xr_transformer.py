"""XR-Transformer: one encoder fine-tuned on ever finer levels of a label tree, then linear ranking on a better tree.

Zhang, Chang, Yu, Dhillon: Fast Multi-Resolution Transformer Fine-tuning for XMC, NeurIPS 2021.

1. A preliminary tree is grown on tf-idf (PIFA).
2. From the coarsest level to the finest, the encoder learns to tell a text's nodes from others on its shortlist:
   the children of its true nodes and of those that the level above found for it (eq. 7 and 8).
3. Each finer level starts from the encoder of the one before and from weights that a linear solver finds on that
   encoder's embeddings (eq. 11).
4. Errors cost what a node is worth to the text: its share of the text's labels (eq. 6).
5. A refined tree is grown on tf-idf ⊕ embedding, and linear classifiers on it rank the labels (XR-Linear).

| paper          | here                                        |
|----------------|---------------------------------------------|
| Y^(t), C^(t)   | `true`, `tree.membership(t)`                |
| R̂^(t), α       | `relevance`, `negative`                     |
| P^(t-1), k     | `found`, `beam` (Algorithm 1's linear model: `rivals`) |
| M^(t)          | children of `shortlist`                        |
| W_init         | `bootstrap`                                 |
| Φ_cat (eq. 10) | `features`: tf-idf ⊕ normalised embedding   |

Known differences from the authors' code: the linear solution of eq. 11 is that of embeddings without their mean, and
has a cost of 1 for such of length one, where theirs is 100 whatever their length, which learns the training texts by
heart (`bootstrap_c`), and the coarsest level begins there too (the paper's start at random is bootstrap="linear"); the
network that was tuned finds the next level's rivals, where Algorithm 1 trains a linear model on Φ_cat for that
(`rivals="linear"`, as in the presets); padding is masked; the last update of a level
is kept (theirs goes back to the last checkpoint); nodes see the pooled token or the mean of all, where theirs see
BERT's pooler (encoder.pooling="pooler"); gradients are clipped together, where theirs are for the encoder and for the
nodes; attention weights are not dropped (`encoder.attention_dropout`). As in the code, not in eq. 4, the labels of a
text are scaled to length one before PIFA.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from treetop.config import settle
from treetop.data import Corpus, Dataset
from treetop.errors import ConfigError
from treetop.labels import LabelTree, TreeConfig
from treetop.linear import LinearTree, LinearTreeConfig, SearchConfig, SolverConfig
from treetop.methods.bag import FeatureSource, bag_of_words, texts_of
from treetop.methods.costs import Sizes, growing, planned_widths, ranking, weighing
from treetop.methods.explaining.account import Account, account_of_trees
from treetop.methods.explaining.encoders import unit_times, with_encoder
from treetop.methods.fine_tuned import FineTuned, last_layer, reader_part
from treetop.methods.label_features import Representation, tree_on
from treetop.methods.parts import TFIDF_IF_TEXTS, linear_tree
from treetop.neural.settings import Divisor, OptimConfig, check_watched
from treetop.predictions import Ask, Predictions
from treetop.progress import Stage
from treetop.sparse import AnyFeatures, binarise, join, normalise
from treetop.text import TfidfConfig
from treetop.text.encoder_config import EncoderConfig
from treetop.types import CSR, Dense

if TYPE_CHECKING:
    from treetop.neural.costs import EncoderCosts
    from treetop.neural.memory import Head
    from treetop.neural.sharing import Sharing
    from treetop.text.encoder import EncoderSize

__all__ = ["XRTransformer", "XRTransformerConfig"]


def _ranker() -> LinearTreeConfig:
    # Chosen on development texts of tate-subjects, see docs/experiments.
    search = SearchConfig(beam=50, leaf_link="noop", combine="last")
    solver = SolverConfig(c_positive=2.0, threshold=0.01)
    return LinearTreeConfig(solver=solver, search=search, negatives="both", relevance="count")


@dataclass(frozen=True, kw_only=True, slots=True)
class XRTransformerConfig:
    """Coarse-to-fine fine-tuning of an encoder, and a linear tree on what it learned."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    """The text encoder."""
    optim: OptimConfig = field(default_factory=lambda: OptimConfig(weight_decay=0.0, epochs=2))
    """The training of each level."""
    steps: tuple[int, ...] = ()
    """Optimiser steps of each level; empty gives every level what `optim` says."""
    tfidf: TfidfConfig = field(default_factory=lambda: TfidfConfig(sublinear_tf=True))
    """Features of both trees and of the ranker."""
    features: FeatureSource = "auto"
    """Tf-idf of the texts, features given beside them, or both; "auto": the given ones if a benchmark ships them."""
    representation: Representation = "pifa"
    """What a label looks like to both trees (Z): its texts, its own text, or both."""
    coarse_tree: TreeConfig = field(default_factory=lambda: TreeConfig(max_leaf=16, branching=16, top_width=256))
    """The preliminary tree, on tf-idf."""
    finest: int = 32_768
    """Levels with more nodes than this are left to the linear ranker."""
    beam: int = 10
    """Nodes found at a level whose children are the next shortlist."""
    negatives: Literal["teacher", "matcher", "both"] = "both"
    """Whose children are shortlisted: of a text's true nodes, of the nodes found for it (eq. 7), or of both (eq. 8)."""
    rivals: Literal["network", "linear"] = "network"
    """Who finds nodes for the next level's shortlist: the network that was tuned, or a linear model on tf-idf ⊕
    embedding, trained for that at every level as in Algorithm 1."""
    loss: Literal["squared_hinge", "bce"] = "squared_hinge"
    """The loss of a node."""
    relevance: Literal["share", "count", "off"] = "share"
    """Cost of an error on a true node: its share of the text's labels (eq. 6), their number (the code), or 1."""
    negative: float = 1.0
    """Cost of an error on any other node (α)."""
    divide_by: Divisor = "real"
    """What a text's loss is divided by; see `neural.losses`."""
    bootstrap: Literal["everywhere", "linear", "inherit", "prior", "none"] = "everywhere"
    """Where a finer level's weights begin: a linear solution on the embeddings, their parents', or at random.

    "everywhere" is "linear" for the coarsest level too, on the embeddings of the encoder before it is tuned; "prior" is
    at random, with biases that say how often a node is true."""
    bootstrap_c: float = 1.0
    """Cost of an error in that linear solution, for embeddings of length one; the longer they are, the less it is."""
    dropout: float = 0.1
    """Dropout on the states that nodes are scored with."""
    use_tfidf: bool = True
    """Rank on tf-idf ⊕ embedding; otherwise on the embedding alone."""
    refine: bool = True
    """Grow a new tree on what the ranker sees; otherwise rank on the preliminary one."""
    fine_tree: TreeConfig = field(default_factory=TreeConfig)
    """The refined tree."""
    ranker: LinearTreeConfig = field(default_factory=_ranker)
    """The linear classifiers that rank labels."""

    def __post_init__(self) -> None:
        settle(self)
        for name in ("finest", "beam"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if not 0 <= self.dropout < 1 or self.negative <= 0 or self.bootstrap_c <= 0:
            costs = f"negative is {self.negative} and bootstrap_c {self.bootstrap_c} (both above 0)"
            raise ConfigError(f"dropout is {self.dropout} (0 to below 1), {costs}")
        if self.steps and self.optim.steps:
            raise ConfigError(f"steps are {self.steps} and optim.steps is {self.optim.steps}; give one of them")
        check_watched(self.optim, None)

    def optim_of(self, level: int) -> OptimConfig:
        """The training of a level."""
        optim, steps = self.optim, self.steps
        return replace(optim, steps=steps[min(level, len(steps) - 1)], epochs=0) if steps else optim


class XRTransformer(FineTuned[XRTransformerConfig]):
    """XR-Transformer; `checkpoint` is a folder that an interrupted `fit` continues from."""

    name = "xr-transformer"
    ranker: LinearTree
    config_class = XRTransformerConfig
    parts = (
        TFIDF_IF_TEXTS,
        reader_part(lambda _: last_layer),
        linear_tree("ranker", lambda config: config.ranker.search),
    )

    def _learn(self, train: Dataset, sharing: Sharing) -> None:
        from treetop.methods.tuning.xr_transformer import Tuning
        from treetop.neural.networks import seeded
        from treetop.text.encoder import TextEncoder
        from treetop.text.reading.lowest import keep_frozen
        from treetop.text.reading.readings import Readings

        c, runtime = self.config, self.runtime
        x = self._weigh(train, sharing)
        tree = sharing.once("tree", lambda: self._grow(x, train, c.coarse_tree), LabelTree.save, LabelTree.load)
        with seeded(runtime.seed):  # a pooler that its files lack is random
            encoder = TextEncoder.load(c.encoder).to(runtime.device)
        tokens = sharing.first(lambda: encoder.tokenize(texts_of(train.corpus), self.checkpoint, runtime))
        tokens = keep_frozen(encoder, tokens, self.checkpoint, runtime)
        readings = Readings(encoder, last_layer, tokens, runtime, self.checkpoint, peers=sharing.peers)
        tuning = Tuning(c, encoder, tree, runtime, sharing, self.checkpoint)
        tuning.run(readings, binarise(train.labels), partial(self._features, x))
        states = readings.states(final=True)
        self.ranker = self._part("ranker", sharing, lambda: self._rank_labels(x, states, tree, train))
        self.reader, self.logs = readings.reader, tuning.logs

    def _rank_labels(self, x: CSR, states: Dense, tree: LabelTree, train: Dataset) -> LinearTree:
        """Step 5: the refined tree, and the classifiers on it."""
        features = self._features(x, states)
        fine = self._grow(features, train, self.config.fine_tree) if self.config.refine else tree
        return LinearTree.fit(features, train.labels, fine, self.config.ranker, runtime=self.runtime)

    def _grow(self, features: AnyFeatures, train: Dataset, config: TreeConfig) -> LabelTree:
        kind, runtime = self.config.representation, self.runtime
        with runtime.bar("grow tree"):
            return tree_on(kind, features, train, config, seed=runtime.seed, threads=runtime.cores)

    def _features(self, x: CSR, embedding: Dense) -> AnyFeatures:
        """Eq. 10."""
        unit = normalise(embedding)
        return join(x, unit) if self.config.use_tfidf else unit

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        tokens = self.reader.tokenize(texts_of(corpus), runtime=self.runtime)
        x = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=self.runtime.cores)
        features = self._features(x, self.reader.read(tokens, self.runtime))
        return self.ranker.predict(features, ask.k, beam=ask.beam, allowed=ask.allowed, runtime=self.runtime)

    def _account(self, corpus: Corpus, label: int) -> Account:
        x = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=1)
        tokens = self.reader.tokenize(texts_of(corpus), runtime=self.runtime)
        features, text = self._features(x, self.reader.read(tokens, self.runtime)), corpus.texts[0]
        tfidf = self.tfidf if self.config.use_tfidf else None
        account, margins = account_of_trees([self.ranker], text, features, label, tfidf)
        numbers = unit_times([margin.weights for margin in margins])
        return with_encoder(account, self.reader, self.reader.layers, numbers, text, self.runtime)

    def describe(self) -> dict[str, Any]:
        """Widths of the ranker's levels, its weights, and the encoder."""
        levels = " > ".join(f"{width:,}" for width in self.ranker.tree.widths)
        return {"levels": levels, "weights": self.ranker.weights, "encoder": self.config.encoder.name}

    def label_tree(self) -> LabelTree | None:
        """The ranker's tree."""
        return self.ranker.tree

    def _linear_trees(self) -> int:
        return 1

    def _tuning(self, sizes: Sizes, costs: EncoderCosts) -> list[Stage]:
        from treetop.neural.memory import Head

        c, widths = self.config, planned_widths(sizes.labels, self.config.coarse_tree)
        weigh, sizes = weighing(sizes, c.tfidf)
        stages = [weigh, growing(sizes, c.coarse_tree), *costs.opening()]
        if c.bootstrap == "everywhere":
            stages.append(costs.reading())
        for level, width in enumerate(widths[: 1 + sum(width <= c.finest for width in widths[1:])]):
            if c.bootstrap == "everywhere" or (c.bootstrap == "linear" and level > 0):
                share = min(1.0, 2 * c.beam / widths[level - 1]) if level else 1.0
                stages.append(costs.starting(width * share))
            heads, title = [Head(width, costs.size.width, by_rows=level > 0)], f"fine-tune level {level}"
            stages += [costs.learning(c.optim_of(level), heads, title=title), costs.reading()]
        sizes = replace(sizes, entries=sizes.entries * c.use_tfidf + costs.size.width / 4)  # dense numbers are quicker
        fine = [growing(sizes, c.fine_tree)] if c.refine else []
        ranked = planned_widths(sizes.labels, c.fine_tree) if c.refine else widths
        return [*stages, *fine, *ranking(sizes, ranked, c.ranker)]

    def _heads(self, labels: int, encoder: EncoderSize) -> list[Head]:
        from treetop.neural.memory import Head

        return [Head(min(labels, self.config.finest), encoder.width)]

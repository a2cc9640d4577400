"""X-Transformer: an encoder finds groups of labels, and linear classifiers rank the labels in them.

Chang, Yu, Zhong, Yang, Dhillon: Taming Pretrained Transformers for XMC, KDD 2020.

1. Semantic label indexing: labels are represented by their texts' tf-idf (PIFA), by their texts' embeddings
   (PIFA-neural) or by the embedding of their own text, and put into balanced groups.
2. Neural matcher: the encoder learns which groups a text's labels are in (squared hinge over all groups, eq. 3).
3. Each text's pooled embedding, scaled to length one, is put beside its tf-idf, and the row is scaled again.
4. Ranker: a linear classifier per label on these features. Its negatives are the texts with a true label in its group
   (TFN), those that the matcher sends there (MAN), or both.
5. A text's labels are ranked within its `search.beam` best groups (eq. 2).

The paper's nine models are three representations on three encoders, fused by `Ensemble` ("rank_average").

| paper           | here                                                |
|-----------------|-----------------------------------------------------|
| ψ(l)            | `representation`                                    |
| C, K            | `tree.membership(1)`, `tree.widths[0]`              |
| g(x, k), w_k    | `Network.scorer` on the encoder's state             |
| M, M̂            | `true` groups, `found`                            |
| φ(x)            | `features`                                          |
| h(x, l)         | `ranker`                                            |
| σ(g, h)         | `search`: links of matcher and ranker, and `combine` |
| top-b           | `search.beam`                                       |

A label's score is its ranker's margin alone, as in the authors' code. Eq. 2 leaves σ open; a product of the two is
`search` with combine="multiply" and leaf_link="sigmoid" (or a hinge).

Known differences from the authors' code: the matcher begins at a linear solution, where theirs begins at random
(`bootstrap="none"`); group targets are 0 and 1 as in eq. 3, where theirs count labels (`targets="count"`); one pooled
state serves every encoder, where theirs has a head per family (for BERT's, set encoder.pooling="pooler"); labels are
read by the encoder before it is tuned, unless another is named (`label_encoder`) or embeddings are given (theirs came
from an XLNet, fine-tuned beforehand for PIFA-neural); texts are cut in tokens only. As in the code, not in the paper's
formula, the labels of a text are scaled to length one before PIFA.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Literal

import numpy as np
from torch import Tensor, nn

from treetop.config import settle
from treetop.data import Corpus, Dataset
from treetop.errors import ConfigError, DataError
from treetop.labels import LabelTree, TreeConfig, grow_tree, pifa
from treetop.labels.representation import unit_rows
from treetop.linear import LinearLevel, SearchConfig, SolverConfig, WeightType
from treetop.methods.bag import FeatureSource, bag_of_words, fit_bag_of_words, texts_of
from treetop.methods.costs import Sizes, growing, planned_widths, ranking_level, weighing
from treetop.methods.fine_tuned import FineTuned, network_part
from treetop.methods.parts import TFIDF_IF_TEXTS, TREE, linear_level
from treetop.neural.costs import EncoderCosts
from treetop.neural.examples import Batch, Examples
from treetop.neural.memory import Head
from treetop.neural.networks import find_nodes, limits_of, node_frequencies, seeded
from treetop.neural.optimiser import Group, group_parameters
from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import OptimConfig, check_watched
from treetop.neural.shortlist import Limits, targets
from treetop.neural.starting import start_linearly
from treetop.neural.training import fine_tune
from treetop.predictions import Ask, Predictions
from treetop.progress import Stage
from treetop.runtime import Runtime
from treetop.sparse import AnyFeatures, Joined, binarise, join, normalise, only_columns, union
from treetop.text import TfidfConfig
from treetop.text.encoder import EncoderConfig, EncoderSize, TextEncoder
from treetop.text.tokens import Padded, Tokens
from treetop.types import CSR, Dense, Texts

__all__ = ["XTransformer", "XTransformerConfig"]


@dataclass(frozen=True, kw_only=True, slots=True)
class XTransformerConfig:
    """Groups of labels, an encoder that finds them, and linear classifiers within them."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    """The text encoder."""
    optim: OptimConfig = field(default_factory=lambda: OptimConfig(weight_decay=0.0))
    """The training of the matcher."""
    tfidf: TfidfConfig = field(default_factory=TfidfConfig)
    """Features of the ranker, and of labels under "pifa"."""
    features: FeatureSource = "auto"
    """Tf-idf of the texts, features given beside them, or both; "auto": the given ones if a benchmark ships them."""
    representation: Literal["pifa", "pifa-neural", "text"] = "pifa"
    """What a label looks like: its texts' tf-idf, its texts' embeddings, or the embedding of its own text."""
    label_encoder: str = ""
    """Another encoder for "pifa-neural" and "text", by folder or name; empty means the same."""
    tree: TreeConfig = field(default_factory=TreeConfig)
    """How labels are grouped; the last level above the labels is used."""
    targets: Literal["binary", "count"] = "binary"
    """What the matcher learns: whether a text has labels in a group (eq. 3), or how many (the authors' code)."""
    bootstrap: Literal["linear", "prior", "none"] = "linear"
    """Where the groups begin: a linear solution on the embeddings of the untuned encoder, or at random, with biases
    that say how often a group is true ("prior") or with none."""
    dropout: float = 0.1
    """Dropout on the state that groups are scored with."""
    use_tfidf: bool = True
    """Rank on tf-idf ⊕ embedding; otherwise on the embedding alone."""
    use_embedding: bool = True
    """The same of the embedding; without it the encoder only finds groups."""
    negatives: Literal["teacher", "matcher", "both"] = "both"
    """On whose shortlist a group is: texts with a true label in it (TFN), texts the matcher sends (MAN), or both."""
    solver: SolverConfig = field(default_factory=lambda: SolverConfig(threshold=0.01))
    """The problem of each label."""
    search: SearchConfig = field(
        default_factory=lambda: SearchConfig(beam=10, link="l2-hinge", leaf_link="noop", combine="last")
    )
    """Groups looked into, and how matcher (`link`) and ranker (`leaf_link`) make a score."""
    weights: WeightType = "float32"
    """How the ranker's weights are stored; float16 makes a smaller model."""

    def __post_init__(self) -> None:
        settle(self)
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout is {self.dropout}; it must be from 0 to below 1")
        if self.label_encoder and self.representation == "pifa":
            raise ConfigError("label_encoder is given, but representation 'pifa' reads no labels; choose another")
        if not (self.use_tfidf or self.use_embedding):
            raise ConfigError("use_tfidf and use_embedding are both false; the ranker would see nothing")
        check_watched(self.optim, None)


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


class XTransformer(FineTuned[XTransformerConfig]):
    """X-Transformer; `embedding` (a row per training text) takes the place of the untuned encoder's in PIFA-neural."""

    name = "x-transformer"
    config_class = XTransformerConfig
    parts = (
        TFIDF_IF_TEXTS,
        TREE,
        network_part(lambda model, encoder: Network(model.config, encoder, model.tree.widths[0])),
        linear_level("ranker", "ranker"),
    )

    def __init__(
        self,
        config: XTransformerConfig | None = None,
        *,
        preset: str | None = None,
        runtime: Runtime | None = None,
        checkpoint: str | PathLike[str] | None = None,
        embedding: Dense | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(config, preset=preset, runtime=runtime, checkpoint=checkpoint, **settings)
        if embedding is not None and self.config.representation != "pifa-neural":
            raise ConfigError(f"embeddings are given, but representation is '{self.config.representation}'")
        if embedding is not None and embedding.ndim != 2:
            raise DataError(f"embeddings of shape {embedding.shape}; give a matrix with a row for each training text")
        self.given_embedding = embedding

    def _arguments(self) -> dict[str, Any]:
        return super()._arguments() | {"embedding": self.given_embedding}

    def _run(self, train: Dataset) -> dict[str, Any]:
        given = None if self.given_embedding is None else np.ascontiguousarray(self.given_embedding, np.float32)
        digest = "" if given is None else hashlib.blake2b(given.tobytes(), digest_size=8).hexdigest()
        return {**super()._run(train), "embedding": digest}

    def _learn(self, train: Dataset) -> None:
        c, runtime = self.config, self.runtime
        with runtime.bar("tf-idf"):
            self.tfidf, x = fit_bag_of_words(c.tfidf, train.corpus, features=c.features, threads=runtime.cores)
        with seeded(runtime.seed):  # a pooler that its files lack is random
            encoder = TextEncoder.load(c.encoder).to(runtime.device)
        self.tree = self._group(encoder, x, train)
        with seeded(runtime.seed):
            self.network = Network(c, encoder, self.tree.widths[0]).to(runtime.device)
        tokens = encoder.tokenize(texts_of(train.corpus), self.checkpoint, runtime)
        tokens = encoder.keep_frozen(tokens, self.checkpoint, runtime)
        labels = binarise(train.labels)
        true = self.tree.lift(labels, 0)
        if c.bootstrap == "linear":
            costs = true if c.targets == "count" else binarise(true)
            start_linearly(self.network.scorer, encoder.embed(tokens, runtime), costs, None, self.tree, 0, runtime)
        elif c.bootstrap == "prior":
            self.network.scorer.expect(node_frequencies(true), "squared_hinge")
        folder = None if self.checkpoint is None else self.checkpoint / "matcher"
        self.logs = [fine_tune(self.network, Examples(tokens, [true]), c.optim, runtime, checkpoint=folder)]
        embedding = encoder.embed(tokens, runtime)
        shortlist = self._shortlist(true, embedding)
        self.ranker = LinearLevel.fit(
            self._features(x, embedding), labels, shortlist, self.tree.parents[1], c.solver,
            weights=c.weights, runtime=runtime, title="train level 1",
        )  # fmt: skip

    def _group(self, encoder: TextEncoder, x: CSR, train: Dataset) -> LabelTree:
        """Two levels, groups and labels."""
        cores, seed = self.runtime.cores, self.runtime.seed
        representation = self._represent(encoder, x, train)
        with self.runtime.bar("grow tree"):
            tree = grow_tree(representation, self.config.tree, seed=seed, threads=cores)
        if tree.levels == 1:  # too few labels to split
            return LabelTree.from_groups([list(range(tree.widths[0]))])
        return tree.keep([tree.levels - 2])

    def _represent(self, encoder: TextEncoder, x: CSR, train: Dataset) -> CSR | Dense | Joined:
        """Section 3.2: what labels look like, a row for each."""
        kind, cores = self.config.representation, self.runtime.cores
        if kind == "pifa":
            return pifa(x, train.labels, threads=cores)
        if kind == "text":
            if train.space.texts is None:
                raise DataError("representation 'text' needs label texts; add a labels.txt with label<TAB>text")
            return self._untuned(encoder, train.space.texts)
        given = self.given_embedding
        embedding = self._untuned(encoder, texts_of(train.corpus)) if given is None else given
        return pifa(normalise(np.ascontiguousarray(embedding, np.float32)), train.labels, threads=cores)

    def _untuned(self, encoder: TextEncoder, texts: Texts) -> Dense:
        """The mean of the last layer's states over the tokens: before tuning, a pooled token alone says little."""
        how = replace(encoder.config, pooling="mean")
        if self.config.label_encoder:
            other = replace(how, name=self.config.label_encoder, freeze=0, keep_frozen=False)
            reader = TextEncoder.load(other).to(self.runtime.device)
        else:
            reader = TextEncoder(how, encoder.model, encoder.tokenizer)
        return reader.embed(reader.tokenize(texts, runtime=self.runtime), self.runtime)

    def _shortlist(self, true: CSR, embedding: Dense) -> CSR:
        """Section 3.4: texts × groups, by the truth (M), by the matcher (M̂), or by both."""
        if self.config.negatives == "teacher":
            return binarise(true)
        found = binarise(self._match(embedding))
        return found if self.config.negatives == "matcher" else union(binarise(true), found)

    def _match(self, embedding: Dense, limits: Limits | None = None) -> CSR:
        """The best groups of each text, with the logarithms of their scores."""
        search, limits = self.config.search, limits or Limits()
        beam = limits.beam or search.beam
        return find_nodes(self.network.scorer, embedding, beam, self.runtime, link=search.link, limits=limits)

    def _features(self, x: CSR, embedding: Dense) -> AnyFeatures:
        """The ranker's input: two blocks of length one, and both together of length one."""
        if not self.config.use_embedding:
            return normalise(x)
        unit = normalise(embedding)
        if not self.config.use_tfidf:
            return unit
        joined = unit_rows(join(normalise(x), unit))
        assert isinstance(joined, Joined)
        return joined

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        tokens: Tokens = self.network.encoder.tokenize(texts_of(corpus), runtime=self.runtime)
        embedding = self.network.encoder.embed(tokens, self.runtime)
        x = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=self.runtime.cores)
        features, how = self._features(x, embedding), self.config.search
        link, shortlist = how.leaf_link or how.link, self._match(embedding, limits_of(ask, self.tree))
        keep = ask.k if ask.allowed is None else 0
        scores = self.ranker.score(
            features, shortlist, link=link, combine=how.combine, keep=keep, log=True, runtime=self.runtime
        )
        if ask.allowed is not None:
            scores = only_columns(scores, self.tree.branches(ask.allowed)[-1])
        if link != "noop":
            np.exp(scores.data, out=scores.data)
        return Predictions.from_csr(scores, ask.k, kind="margin" if link == "noop" else "score")

    def describe(self) -> dict[str, Any]:
        """Groups and labels, the ranker's weights, and the encoder."""
        levels = " > ".join(f"{width:,}" for width in self.tree.widths)
        return {"levels": levels, "weights": self.ranker.weights, "encoder": self.config.encoder.name}

    def label_tree(self) -> LabelTree | None:
        """The groups."""
        return self.tree

    def _linear_trees(self) -> int:
        return 1

    def _text_encoder(self) -> TextEncoder:
        return self.network.encoder

    def _tuning(self, sizes: Sizes, costs: EncoderCosts) -> list[Stage]:
        c, heads = self.config, self._heads(sizes.labels, costs.size)
        weigh, sizes = weighing(sizes, c.tfidf)
        read = c.representation == "text" or (c.representation == "pifa-neural" and self.given_embedding is None)
        texts = costs.of(sizes.labels if c.representation == "text" else sizes.texts)
        stages = [weigh, *([texts.opening()[0], texts.reading()] if read else []), growing(sizes, c.tree)]
        stages += costs.opening()
        if c.bootstrap == "linear":
            stages += [costs.reading(), costs.starting(heads[0].rows)]
        stages += [costs.learning(c.optim, heads), costs.reading()]
        groups = (1, *planned_widths(sizes.labels, c.tree))[-2]
        entries = sizes.entries * c.use_tfidf + costs.size.width / 4 * c.use_embedding  # dense numbers are quicker
        beam = 0 if c.negatives == "teacher" else c.search.beam
        return [*stages, ranking_level(replace(sizes, entries=entries), groups, sizes.labels, level=1, beam=beam)]

    def _heads(self, labels: int, encoder: EncoderSize) -> list[Head]:
        return [Head(2 * labels // self.config.tree.max_leaf + 1, encoder.width, by_rows=False)]

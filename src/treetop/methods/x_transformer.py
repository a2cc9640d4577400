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
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treetop.config import settle
from treetop.data import Corpus, Dataset
from treetop.errors import ConfigError, DataError
from treetop.labels import LabelTree, TreeConfig, grow_tree, pifa
from treetop.labels.representation import unit_rows
from treetop.linear import LinearLevel, SearchConfig, SolverConfig, WeightType
from treetop.linear.dense_level import log_link
from treetop.methods.bag import FeatureSource, bag_of_words, texts_of
from treetop.methods.costs import Sizes, growing, planned_widths, ranking_level, weighing
from treetop.methods.explaining.account import Account, Node, account_of_margins, chained
from treetop.methods.explaining.encoders import Row, account_of_rows, unit_times, with_encoder
from treetop.methods.fine_tuned import FineTuned, check_groups, last_layer, reader_part
from treetop.methods.heads import Heads, heads_part, level_shapes
from treetop.methods.parts import TFIDF_IF_TEXTS, TREE, linear_level
from treetop.neural.settings import OptimConfig, check_watched
from treetop.predictions import Ask, Predictions
from treetop.progress import Stage
from treetop.runtime import Runtime
from treetop.sparse import AnyFeatures, Joined, binarise, join, normalise, only_columns, union
from treetop.text import TfidfConfig
from treetop.text.encoder_config import EncoderConfig
from treetop.types import CSR, Dense, Texts

if TYPE_CHECKING:
    from treetop.neural.costs import EncoderCosts
    from treetop.neural.memory import Head
    from treetop.neural.sharing import Sharing
    from treetop.text.encoder import EncoderSize, TextEncoder
    from treetop.text.reading.readings import Readings

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
    dev_share: float = 0.0
    """Share of the training texts held out to choose the matcher's best weights by (the paper: 0.1, for its settings);
    the ranker learns from all texts."""
    negatives: Literal["teacher", "matcher", "both"] = "both"
    """On whose shortlist a group is: texts with a true label in it (TFN), texts the matcher sends (MAN), or both."""
    solver: SolverConfig = field(default_factory=lambda: SolverConfig(threshold=0.01))
    """The problem of each label."""
    search: SearchConfig = field(
        default_factory=lambda: SearchConfig(beam=10, link="l2-hinge", leaf_link="noop", combine="last")
    )
    """Groups looked into, and how matcher (`link`) and ranker (`leaf_link`) make a score."""
    weights: WeightType = "float16"
    """How the ranker's weights are stored; int8 makes a smaller model, float32 a larger one that is no better."""

    def __post_init__(self) -> None:
        settle(self)
        for name in ("dropout", "dev_share"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be from 0 to below 1")
        if self.label_encoder and self.representation == "pifa":
            raise ConfigError("label_encoder is given, but representation 'pifa' reads no labels; choose another")
        if not (self.use_tfidf or self.use_embedding):
            raise ConfigError("use_tfidf and use_embedding are both false; the ranker would see nothing")
        check_watched(self.optim, self.dev_share)


class XTransformer(FineTuned[XTransformerConfig]):
    """X-Transformer; `embedding` is what the untuned encoder would make of the training texts ("pifa-neural") or of the
    label texts ("text"), a row for each. Models that share it need not all read for it: see `embed_for_labels`.
    """

    name = "x-transformer"
    tree: LabelTree
    ranker: LinearLevel
    config_class = XTransformerConfig
    parts = (
        TFIDF_IF_TEXTS,
        TREE,
        reader_part(lambda _: last_layer),
        heads_part(lambda model: level_shapes("scorer", model.tree.widths[0], model.reader.width)),
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
        if embedding is not None and self.config.representation == "pifa":
            raise ConfigError("embeddings are given, but representation is 'pifa', which needs none")
        if embedding is not None and embedding.ndim != 2:
            raise DataError(f"embeddings of shape {embedding.shape}; give a matrix with a row for each training text")
        self.given_embedding = embedding

    def _arguments(self) -> dict[str, Any]:
        return super()._arguments() | {"embedding": self.given_embedding}

    def _run(self, train: Dataset) -> dict[str, Any]:
        given = None if self.given_embedding is None else np.ascontiguousarray(self.given_embedding, np.float32)
        digest = "" if given is None else hashlib.blake2b(given.tobytes(), digest_size=8).hexdigest()
        return {**super()._run(train), "embedding": digest}

    def _learn(self, train: Dataset, sharing: Sharing) -> None:
        from treetop.methods.tuning.x_transformer import tune
        from treetop.text.reading.lowest import keep_frozen
        from treetop.text.reading.readings import Readings

        c, runtime = self.config, self.runtime
        x = self._weigh(train, sharing)
        encoder = self._untuned()
        tokens = sharing.first(lambda: encoder.tokenize(texts_of(train.corpus), self.checkpoint, runtime))
        tokens = keep_frozen(encoder, tokens, self.checkpoint, runtime)
        readings = Readings(encoder, last_layer, tokens, runtime, self.checkpoint, peers=sharing.peers)
        if self.given_embedding is None and self._reads_alike(encoder):
            readings.states()  # by all of them; the leading process alone would wait for the others
        self.tree = self._part("tree", sharing, lambda: self._group(readings, x, train))
        labels = binarise(train.labels)
        true = self.tree.lift(labels, 0)
        network, log = tune(c, readings, true, train.corpus, self.tree, runtime, sharing, self.checkpoint)
        self.heads, self.logs = Heads.of(network), [log]
        embedding = readings.states(final=True)
        self.reader = readings.reader
        self.ranker = self._part("ranker", sharing, lambda: self._rank_labels(x, embedding, true, labels))

    def _rank_labels(self, x: CSR, embedding: Dense, true: CSR, labels: CSR) -> LinearLevel:
        """Step 4."""
        return LinearLevel.fit(
            self._features(x, embedding), labels, self._shortlist(true, embedding), self.tree.parents[1],
            self.config.solver, weights=self.config.weights, runtime=self.runtime, title="train level 1",
        )  # fmt: skip

    def _group(self, readings: Readings, x: CSR, train: Dataset) -> LabelTree:
        """Two levels, groups and labels."""
        cores, seed = self.runtime.cores, self.runtime.seed
        representation = self._represent(readings, x, train)
        with self.runtime.bar("grow tree"):
            tree = grow_tree(representation, self.config.tree, seed=seed, threads=cores)
        check_groups(tree, self.config.tree, "xr-transformer and lightxml do without")
        if tree.levels == 1:
            return LabelTree.from_groups([list(range(tree.widths[0]))])
        return tree.keep([tree.levels - 2])

    def _represent(self, readings: Readings, x: CSR, train: Dataset) -> CSR | Dense | Joined:
        """Section 3.2: what labels look like, a row for each."""
        kind, cores = self.config.representation, self.runtime.cores
        if kind == "pifa":
            return pifa(x, train.labels, threads=cores)
        embedding, texts = self.given_embedding, self._read_for_labels(train)
        if embedding is None and self._reads_alike(readings.encoder):
            embedding = readings.states()  # which the matcher begins with, too
        if embedding is None:
            embedding = self._mean_states(readings.encoder, texts)
        if len(embedding) != len(texts):
            what = "labels" if kind == "text" else "training texts"
            raise DataError(f"embeddings of {len(embedding):,} rows for {len(texts):,} {what}; give a row for each")
        embedding = np.ascontiguousarray(embedding, np.float32)
        return embedding if kind == "text" else pifa(normalise(embedding), train.labels, threads=cores)

    def embed_for_labels(self, train: Dataset) -> Dense | None:
        """What `embedding` stands for, for every model that has these labels, representation and label encoder."""
        if self.config.representation == "pifa":
            return None
        return self._mean_states(self._untuned(), self._read_for_labels(train))

    def _read_for_labels(self, train: Dataset) -> Texts:
        """The texts that tell what labels are."""
        if self.config.representation == "pifa-neural":
            return texts_of(train.corpus)
        if train.space.texts is None:
            raise DataError("representation 'text' needs label texts; add a labels.txt with label<TAB>text")
        return train.space.texts

    def _reads_alike(self, encoder: TextEncoder) -> bool:
        """Whether the matcher begins with the very states that labels are represented by."""
        alike = encoder.config.pooling == "mean" and not self.config.label_encoder
        return alike and self.config.representation == "pifa-neural"

    def _untuned(self) -> TextEncoder:
        from treetop.neural.networks import seeded
        from treetop.text.encoder import TextEncoder

        with seeded(self.runtime.seed):  # a pooler that its files lack is random
            return TextEncoder.load(self.config.encoder).to(self.runtime.device)

    def _mean_states(self, encoder: TextEncoder, texts: Texts) -> Dense:
        """The mean of the last layer's states over the tokens: before tuning, a pooled token alone says little."""
        from treetop.text.encoder import TextEncoder
        from treetop.text.reading.readings import Readings

        other, runtime = self.config.label_encoder, self.runtime
        how = replace(encoder.config, pooling="mean")
        if other:
            own = replace(how, name=other, freeze=0, keep_frozen=False)
            reading = TextEncoder.load(own).to(runtime.device)
        else:
            reading = TextEncoder(how, encoder.model, encoder.tokenizer)
        return Readings(reading, last_layer, reading.tokenize(texts, runtime=runtime), runtime).states()

    def _shortlist(self, true: CSR, embedding: Dense) -> CSR:
        """Section 3.4: texts × groups, by the truth (M), by the matcher (M̂), or by both."""
        if self.config.negatives == "teacher":
            return binarise(true)
        found = binarise(self._match(embedding))
        return found if self.config.negatives == "matcher" else union(binarise(true), found)

    def _match(self, embedding: Dense, ask: Ask | None = None) -> CSR:
        """The best groups of each text, with the logarithms of their scores."""
        beam = self.config.search.beam if ask is None else ask.beam or self.config.search.beam
        allowed = None if ask is None or ask.allowed is None else self.tree.branches(ask.allowed)[0]
        found = self.heads.level("scorer").best(embedding, beam, self.runtime, allowed=allowed)
        found.data = log_link(found.data, self.config.search.link)
        return found

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
        embedding = self.reader.read(self.reader.tokenize(texts_of(corpus), runtime=self.runtime), self.runtime)
        x = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=self.runtime.cores)
        features, how = self._features(x, embedding), self.config.search
        link, shortlist = how.leaf_link or how.link, self._match(embedding, ask)
        keep = ask.k if ask.allowed is None else 0
        scores = self.ranker.score(
            features, shortlist, link=link, combine=how.combine, keep=keep, log=True, runtime=self.runtime
        )
        if ask.allowed is not None:
            scores = only_columns(scores, self.tree.branches(ask.allowed)[-1])
        if link != "noop":
            np.exp(scores.data, out=scores.data)
        return Predictions.from_csr(scores, ask.k, kind="margin" if link == "noop" else "score")

    def _account(self, corpus: Corpus, label: int) -> Account:
        text, c, reader = texts_of(corpus)[0], self.config, self.reader
        embedding = reader.read(reader.tokenize([text], runtime=self.runtime), self.runtime)
        features = self._features(bag_of_words(self.tfidf, corpus, features=c.features, threads=1), embedding)
        tfidf = self.tfidf if c.use_tfidf or not c.use_embedding else None
        margin = self.ranker.margin_of(label, features)
        account = account_of_margins([margin], [Node(0, 1, label)], np.ones(1), text, features, tfidf)
        if c.use_embedding:
            scale = np.linalg.norm(features.dense[0]) if isinstance(features, Joined) else np.float32(1)
            numbers = unit_times([margin.weights * scale])
            account = with_encoder(account, reader, reader.layers, numbers, text, self.runtime)
        group = self.tree.path(label)[0]
        row = Row(self.heads.level("scorer"), group)
        of_group = account_of_rows(reader, [row], [Node(0, 0, group)], np.ones(1), text, self.runtime)
        return chained(of_group, account, np.array([float(c.search.combine == "multiply"), 1.0]))

    def describe(self) -> dict[str, Any]:
        """Groups and labels, the ranker's weights, and the encoder."""
        levels = " > ".join(f"{width:,}" for width in self.tree.widths)
        return {"levels": levels, "weights": self.ranker.weights, "encoder": self.config.encoder.name}

    def label_tree(self) -> LabelTree | None:
        """The groups."""
        return self.tree

    def _linear_trees(self) -> int:
        return 1

    def _tuning(self, sizes: Sizes, costs: EncoderCosts) -> list[Stage]:
        c, heads = self.config, self._heads(sizes.labels, costs.size)
        weigh, sizes = weighing(sizes, c.tfidf)
        of_labels, shared = self._label_reading(sizes, costs)
        stages = [weigh, *costs.opening(), *of_labels, growing(sizes, c.tree)]
        if c.bootstrap == "linear":
            stages += [*([] if shared else [costs.reading()]), costs.starting(heads[0].rows)]
        stages += [costs.learning(c.optim, heads), costs.reading()]
        groups = (1, *planned_widths(sizes.labels, c.tree))[-2]
        entries = sizes.entries * c.use_tfidf + costs.size.width / 4 * c.use_embedding  # dense numbers are quicker
        beam = 0 if c.negatives == "teacher" else c.search.beam
        return [*stages, ranking_level(replace(sizes, entries=entries), groups, sizes.labels, level=1, beam=beam)]

    def _label_reading(self, sizes: Sizes, costs: EncoderCosts) -> tuple[list[Stage], bool]:
        """The stages of `_untuned`, and whether the linear start can use what was read then."""
        c = self.config
        if c.representation == "text":
            texts = costs.of(sizes.labels)
            return [texts.opening()[0], texts.reading()], False
        if c.representation == "pifa" or self.given_embedding is not None:
            return [], False
        shared = c.encoder.pooling in ("mean", "auto") and not c.label_encoder
        return [*([] if shared else costs.opening()[:1]), costs.reading()], shared

    def _heads(self, labels: int, encoder: EncoderSize) -> list[Head]:
        from treetop.neural.memory import Head

        return [Head(2 * labels // self.config.tree.max_leaf + 1, encoder.width, by_rows=False)]

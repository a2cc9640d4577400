"""One-vs-all linear classifiers: every label against all texts.

Babbar, Schölkopf: DiSMEC, WSDM 2017. Squared hinge with C = 1; weights below 0.01 are dropped as each label is done.

1. Texts become tf-idf rows.
2. Every label is a binary problem over all texts; sixteen are solved at once, blocks of labels in parallel.
3. A text is scored against every label through an inverted index of the weights.

It is the one-level case of a linear tree: all labels are children of the root. Training time grows with texts × labels,
so prefer a tree beyond some ten thousand labels. Known difference: the weights are never held as a dense matrix, not
even for a block of labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treetop.config import settle
from treetop.data import Corpus, Dataset
from treetop.labels import LabelTree
from treetop.linear import LinearTree, LinearTreeConfig, SearchConfig, SolverConfig, WeightType
from treetop.methods.bag import FeatureSource, bag_of_words, fit_bag_of_words
from treetop.methods.base import Method, training_memory
from treetop.methods.costs import Sizes, ranking_level, weighing
from treetop.methods.explaining.account import Account, account_of_trees
from treetop.methods.parts import TFIDF_IF_TEXTS, linear_tree
from treetop.predictions import Ask, Predictions
from treetop.progress import Stage
from treetop.text import TfidfConfig

__all__ = ["OneVsAll", "OneVsAllConfig"]


@dataclass(frozen=True, kw_only=True, slots=True)
class OneVsAllConfig:
    """Every label against the rest."""

    tfidf: TfidfConfig = field(default_factory=lambda: TfidfConfig(sublinear_tf=True))
    """From texts to features."""
    features: FeatureSource = "auto"
    """Tf-idf of the texts, features given beside them, or both; "auto": the given ones if a benchmark ships them."""
    solver: SolverConfig = field(default_factory=lambda: SolverConfig(threshold=0.01))
    """The problem of each label."""
    search: SearchConfig = field(default_factory=lambda: SearchConfig(link="noop", combine="last"))
    """How margins become scores; there is no beam to keep."""
    weights: WeightType = "float16"
    """How weights are stored; int8 makes a smaller model, float32 a larger one that is no better."""

    def __post_init__(self) -> None:
        settle(self)


class OneVsAll(Method[OneVsAllConfig]):
    """A linear classifier per label, each trained against all texts."""

    name = "one-vs-all"
    config_class = OneVsAllConfig
    parts = (TFIDF_IF_TEXTS, linear_tree("linear", lambda config: config.search))

    def _fit(self, train: Dataset) -> None:
        with self.runtime.bar("tf-idf"):
            self.tfidf, features = fit_bag_of_words(
                self.config.tfidf, train.corpus, features=self.config.features, threads=self.runtime.cores
            )
        flat = LabelTree((np.zeros(len(train.space), np.int32),))
        config = LinearTreeConfig(solver=self.config.solver, search=self.config.search, weights=self.config.weights)
        self.linear = LinearTree.fit(features, train.labels, flat, config, runtime=self.runtime)

    has_beam = False  # every label is looked at

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        features = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=self.runtime.cores)
        return self.linear.predict(features, ask.k, allowed=ask.allowed, runtime=self.runtime)

    def describe(self) -> dict[str, Any]:
        """Weights kept."""
        return {"weights": self.linear.weights}

    def _account(self, corpus: Corpus, label: int) -> Account:
        features = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=1)
        return account_of_trees([self.linear], corpus.texts[0], features, label, self.tfidf)[0]

    def _label_trees(self) -> list[LabelTree]:
        return [self.linear.tree]

    def _stages(self, sizes: Sizes) -> list[Stage]:
        weigh, sizes = weighing(sizes, self.config.tfidf)
        return [weigh, ranking_level(sizes, 1, sizes.labels, level=0, beam=0)]

    def memory_estimate(self, train: Dataset) -> int:
        """Bytes of features and weights."""
        return training_memory(train, trees=1, half=self.config.weights == "float16")

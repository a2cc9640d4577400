"""XR-Linear, Parabel and Bonsai: linear classifiers on a label tree.

Yu, Zhong, Zhang, Chang, Dhillon: PECOS, JMLR 2022. Prabhu et al.: Parabel, WWW 2018. Khandagale et al.: Bonsai, 2020.

1. Texts become tf-idf rows.
2. Each label is represented by its texts (PIFA), or by its own text, or both.
3. Labels are grouped into a tree by balanced (XR-Linear, Parabel) or free (Bonsai) k-means.
4. At every node a linear classifier learns to tell its texts from those of its siblings.
5. A text walks down the tree by beam search; several trees vote by the mean of their scores.

| paper              | here                      |
|--------------------|---------------------------|
| X, Y               | features, labels          |
| Z (PIFA)           | representation            |
| C                  | `LabelTree.membership`    |
| M (TFN, MAN)       | `linear.negatives`        |
| R (cost-sensitive) | `linear.relevance`        |

Known differences: ties are broken by the margin and then by the label's number, where PECOS has them by number alone
(its l3-hinge saturates at 1 for the best labels); the bias is never pruned; a node without a training text gets no
weights and a negative bias, so that it is never suggested before one that has been seen.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from treetop.config import adjust, settle
from treetop.data import Corpus, Dataset
from treetop.errors import ConfigError
from treetop.labels import LabelTree, TreeConfig
from treetop.linear import LinearTree, LinearTreeConfig, SearchConfig
from treetop.methods.bag import FeatureSource, bag_of_words, fit_bag_of_words
from treetop.methods.base import Method, training_memory
from treetop.methods.costs import Sizes, growing, planned_widths, ranking, weighing
from treetop.methods.explaining.account import Account, account_of_trees
from treetop.methods.label_features import Representation, tree_on
from treetop.methods.parts import TFIDF_IF_TEXTS, Part
from treetop.predictions import Ask, Predictions, fuse
from treetop.progress import Stage
from treetop.runtime import Runtime
from treetop.store import Folder
from treetop.text import TfidfConfig
from treetop.types import CSR

__all__ = ["XRLinear", "XRLinearConfig"]

_KEPT_PER_TREE = 50  # Fusing shorter lists would punish labels that one tree ranks just below its cut.


@dataclass(frozen=True, kw_only=True, slots=True)
class XRLinearConfig:
    """A tree of linear classifiers, or several."""

    tfidf: TfidfConfig = field(default_factory=lambda: TfidfConfig(sublinear_tf=True))
    """From texts to features."""
    features: FeatureSource = "auto"
    """Tf-idf of the texts, features given beside them, or both; "auto": the given ones if a benchmark ships them."""
    representation: Representation = "pifa"
    """What a label looks like to the tree: its texts (weighted by 1/√labels, or plainly), its name, or both."""
    tree: TreeConfig = field(default_factory=TreeConfig)
    """How labels are grouped."""
    linear: LinearTreeConfig = field(default_factory=LinearTreeConfig)
    """How nodes are trained and searched."""
    trees: int = 1
    """How many trees, each grown from another seed."""

    def __post_init__(self) -> None:
        settle(self)
        if self.trees < 1:
            raise ConfigError(f"trees is {self.trees}; grow at least one")


def _write_trees(trees: list[LinearTree], folder: Folder) -> None:
    for number, tree in enumerate(trees):
        tree.save(folder.sub(f"ranker-{number}"))


def _read_trees(model: XRLinear, folder: Folder) -> list[LinearTree]:
    search = model.config.linear.search
    return [LinearTree.load(folder.sub(f"ranker-{n}"), search) for n in range(model.config.trees)]


class XRLinear(Method[XRLinearConfig]):
    """Linear classifiers on one or several label trees; `label_tree` is one of your own instead of a grown one."""

    name = "xr-linear"
    config_class = XRLinearConfig
    parts = (TFIDF_IF_TEXTS, Part("linear", _write_trees, _read_trees))

    def __init__(
        self,
        config: XRLinearConfig | None = None,
        *,
        preset: str | None = None,
        runtime: Runtime | None = None,
        label_tree: LabelTree | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(settings.get("tree"), LabelTree):  # as it was written before `tree` was a setting
            label_tree = settings.pop("tree")
        super().__init__(config, preset=preset, runtime=runtime, **settings)
        self.given_tree = label_tree

    def _arguments(self) -> dict[str, Any]:
        return super()._arguments() | {"label_tree": self.given_tree}

    def _fit(self, train: Dataset) -> None:
        with self.runtime.bar("tf-idf"):
            self.tfidf, features = fit_bag_of_words(
                self.config.tfidf, train.corpus, features=self.config.features, threads=self.runtime.cores
            )
        self.linear = []
        for seed in range(self.runtime.seed, self.runtime.seed + self.config.trees):
            with self.runtime.bar("grow tree"):
                tree = self.given_tree or self.grow(features, train, seed)
            runtime = replace(self.runtime, seed=seed)
            self.linear.append(LinearTree.fit(features, train.labels, tree, self.config.linear, runtime=runtime))

    def grow(self, features: CSR, train: Dataset, seed: int) -> LabelTree:
        """The tree that labels are grouped into, from the features of the training texts."""
        c, cores = self.config, self.runtime.cores
        return tree_on(c.representation, features, train, c.tree, seed=seed, threads=cores)

    def searching(self, search: SearchConfig) -> XRLinear:
        """The same weights, not copied, with another search; scores differ, so what was calibrated is no longer."""
        other = copy(self)
        other.config = adjust(self.config, {"linear": {"search": search}})
        other.linear = [LinearTree(ranker.tree, ranker.levels, search) for ranker in self.linear]
        other.calibration = None
        return other

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        features = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=self.runtime.cores)
        if len(self.linear) == 1:
            return self.linear[0].predict(features, ask.k, beam=ask.beam, allowed=ask.allowed, runtime=self.runtime)
        k, beam, allowed = ask.wider(_KEPT_PER_TREE, len(self.space))
        lists = [tree.predict(features, k, beam=beam, allowed=allowed, runtime=self.runtime) for tree in self.linear]
        return fuse(lists, "average", k=ask.k)

    def describe(self) -> dict[str, Any]:
        """Widths of the levels and weights kept, tree by tree."""
        widths = [" > ".join(f"{width:,}" for width in ranker.tree.widths) for ranker in self.linear]
        return {"levels": "; ".join(widths), "weights": sum(ranker.weights for ranker in self.linear)}

    def _account(self, corpus: Corpus, label: int) -> Account:
        features = bag_of_words(self.tfidf, corpus, features=self.config.features, threads=1)
        return account_of_trees(self.linear, corpus.texts[0], features, label, self.tfidf)[0]

    def _label_trees(self) -> list[LabelTree]:
        return [ranker.tree for ranker in self.linear]

    def label_tree(self) -> LabelTree | None:
        """The first tree."""
        return self.linear[0].tree

    def _stages(self, sizes: Sizes) -> list[Stage]:
        weigh, sizes = weighing(sizes, self.config.tfidf)
        given = self.given_tree
        grow = Stage("grow tree", 0.0) if given else growing(sizes, self.config.tree)
        widths = given.widths if given else planned_widths(sizes.labels, self.config.tree)
        return [weigh, *self.config.trees * [grow, *ranking(sizes, widths, self.config.linear)]]

    def memory_estimate(self, train: Dataset) -> int:
        """Bytes of features, label representation and weights."""
        return training_memory(train, trees=self.config.trees, half=self.config.linear.weights == "float16")

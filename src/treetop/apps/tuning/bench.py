"""Where settings are tried: some training texts and the held-out ones, with features and trees that trials share.

A trial is the method itself: it is given the features and the tree that were made once, and learns from them as it
would from texts. Labels that none of the texts has are left out of the training and count as missed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from treetop.apps.tuning.space import Setting, Space
from treetop.apps.tuning.trial import Trial, mean_of
from treetop.config import to_dict
from treetop.data import Corpus, Dataset, LabelSpace
from treetop.labels import LabelTree
from treetop.methods.bag import bag_of_words, fit_bag_of_words
from treetop.methods.xr_linear import XRLinear, XRLinearConfig
from treetop.metrics import Propensity, largest_k
from treetop.metrics.differences import spread
from treetop.progress import Progress
from treetop.runtime import Meter, Runtime
from treetop.sparse import canonical
from treetop.text import Tfidf
from treetop.types import CSR

__all__ = ["Bench"]

_MOST_KEPT = 250_000_000  # entries of features that are kept for later trials, two gigabytes
_CLOCKED = 50  # texts by which the time for one is measured

T = TypeVar("T")


class _Made(NamedTuple):
    """Something that trials share, and what it cost the first of them."""

    it: Any
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class _Features:
    learned: CSR
    held_out: CSR
    tfidf: Tfidf | None


class Bench:
    """Some training texts, the held-out texts, and what trials on them have made so far."""

    def __init__(
        self,
        train: Dataset,
        held_out: Dataset,
        metrics: tuple[str, ...],
        runtime: Runtime,
        *,
        clocked: bool = False,
        beside: int = 1,
    ) -> None:
        """`clocked`: measure how long a model takes for one text, too; `beside`: benches that share the memory."""
        self.runtime = replace(runtime, progress=Progress())  # a trial is one step of the search, and tells nobody
        self._clocked, self._most_kept = clocked, _MOST_KEPT // beside
        self.metrics = metrics
        self.texts, self.judged = len(train), len(held_out)
        counts = train.frequency
        seen, unseen = np.flatnonzero(counts), np.flatnonzero(counts == 0)
        self._train = Dataset(train.corpus, canonical(train.labels[:, seen]), _part(train.space, seen))
        self._held_out = held_out.corpus
        columns = np.concatenate([seen, unseen, np.arange(len(counts), held_out.labels.shape[1])])
        self._truth = canonical(held_out.labels[:, columns])
        self._weights: dict[str, Any] = {
            "frequency": counts[seen],
            "propensity": Propensity(train_texts=len(train)),
        }
        self._features: OrderedDict[str, _Made] = OrderedDict()
        self._trees: dict[str, _Made] = {}

    def run(self, space: Space, setting: Setting) -> list[Trial]:
        """Train a setting and judge it with each of the rankings that its weights serve."""
        config = space.config(space.trained(setting))
        features = self._features_of(config)
        data = replace(self._train, corpus=Corpus((), features.it.learned))
        tree = self._tree_of(config, features.it, data) if config.trees == 1 else None
        given = replace(config, features="given")
        model = XRLinear(given, runtime=self.runtime, label_tree=None if tree is None else tree.it)
        with Meter() as meter:
            model.fit(data)
        made = [part for part in (features, tree) if part is not None]
        seconds = meter.wall_seconds + sum(part.seconds for part in made)
        cpu_seconds = meter.cpu_seconds + sum(part.cpu_seconds for part in made)
        return [self._judge(model, space, one, features.it, (seconds, cpu_seconds)) for one in space.rankings(setting)]

    def _judge(
        self, model: XRLinear, space: Space, setting: Setting, features: _Features, cost: tuple[float, float]
    ) -> Trial:
        ranked = model.searching(space.config(setting).linear.search)
        found = ranked.predict(Corpus((), features.held_out), largest_k(self.metrics))
        spreads = spread(found, self._truth, self.metrics, **self._weights)
        values = {name: one.value for name, one in spreads.items()}
        weights = sum(tree.weights for tree in model.linear)
        stored = sum(tree.stored_bytes for tree in model.linear)
        stored += 0 if features.tfidf is None else features.tfidf.stored_bytes
        clocked = self._clock(ranked, features) if self._clocked else 0.0
        score = mean_of(list(spreads.values()))
        return Trial(setting, self.texts, values, score, weights, *cost, stored / 1e6, clocked)

    def _clock(self, ranked: XRLinear, features: _Features) -> float:
        """Milliseconds from one text to its labels: the median of some."""
        taken = []
        for place in range(min(_CLOCKED, features.held_out.shape[0])):
            with Meter() as meter:
                rows = features.held_out[[place]]
                if features.tfidf is not None:
                    rows = features.tfidf.transform([self._held_out.texts[place]], threads=1)
                ranked.predict(Corpus((), rows), largest_k(self.metrics))
            taken.append(1000 * meter.wall_seconds)
        return float(np.median(taken))

    def _features_of(self, config: XRLinearConfig) -> _Made:
        key = str(to_dict(config.tfidf))
        if key not in self._features:
            self._features[key] = _made(lambda: self._make_features(config))
            while len(self._features) > 1 and sum(_entries(one) for one in self._features.values()) > self._most_kept:
                self._features.popitem(last=False)
        self._features.move_to_end(key)
        return self._features[key]

    def _make_features(self, config: XRLinearConfig) -> _Features:
        cores = self.runtime.cores
        tfidf, learned = fit_bag_of_words(config.tfidf, self._train.corpus, features=config.features, threads=cores)
        held_out = bag_of_words(tfidf, self._held_out, features=config.features, threads=cores)
        return _Features(learned, held_out, tfidf)

    def _tree_of(self, config: XRLinearConfig, features: _Features, data: Dataset) -> _Made:
        key = str([to_dict(config.tfidf), config.representation, to_dict(config.tree)])
        if key not in self._trees:
            grower = XRLinear(config, runtime=self.runtime)
            self._trees[key] = _made(lambda: grower.grow(features.learned, data, self.runtime.seed))
        return self._trees[key]


def _made(make: Callable[[], _Features | LabelTree]) -> _Made:
    with Meter() as meter:
        it = make()
    return _Made(it, meter.wall_seconds, meter.cpu_seconds)


def _entries(made: _Made) -> int:
    return int(made.it.learned.nnz + made.it.held_out.nnz)


def _part(space: LabelSpace, labels: Any) -> LabelSpace:
    chosen = labels.tolist()
    texts = None if space.texts is None else [space.texts[label] for label in chosen]
    return LabelSpace([space.names[label] for label in chosen], texts)

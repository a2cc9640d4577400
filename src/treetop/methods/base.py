"""What all methods share: the manners of fit, predict, save and load, and nothing of how they learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from treetop.calibration.calibration import DEPTH, Calibration
from treetop.config import check_whole, to_dict
from treetop.data import Corpus, Dataset, LabelSpace
from treetop.data.learned import Learned
from treetop.data.tagged import as_corpus, tagged
from treetop.errors import ConfigError, DataError, NotFittedError, StoreError
from treetop.explanation import Explanation
from treetop.labels import LabelTree
from treetop.manifest import FOR_PEOPLE
from treetop.methods.bag import taken_features
from treetop.methods.calibrating import cut_at, learn_calibration
from treetop.methods.card import CARD, FORMAT, read_card, read_config
from treetop.methods.configured import Configured
from treetop.methods.costs import Sizes, sizes_of
from treetop.methods.explaining.account import Account
from treetop.methods.explaining.explained import explained
from treetop.methods.naming import Catalogue, learn_naming, spaces
from treetop.methods.origin import Origin
from treetop.methods.parts import CALIBRATION, KEPT, LEARNED, NAMING, Part, read_parts, write_parts
from treetop.methods.readme import readme
from treetop.naming import Naming
from treetop.predictions import Ask, Predictions, check_k
from treetop.progress import Plan, Stage
from treetop.runtime import Meter, Runtime
from treetop.store import Folder
from treetop.tagging import Labels
from treetop.text.kept import KeptTexts
from treetop.types import Texts
from treetop.version import __version__

__all__ = ["Method", "Predictor", "training_memory"]

LABELS = "labels.jsonl"
_KINDS: dict[str, type[np.generic]] = {"frequency": np.int64}

C = TypeVar("C")
M = TypeVar("M", bound="Method[Any]")
Input = Texts | Corpus | Dataset | Any
"""Texts: a list, one column of a table, an array of strings, a corpus or a dataset."""


@runtime_checkable
class Predictor(Protocol):
    """All that evaluation, fusion and serving need of a model."""

    space: LabelSpace

    def predict(
        self,
        texts: Input,
        k: int = 10,
        *,
        threshold: float | str | None = None,
        labels: Iterable[str] | None = None,
        beam: int | None = None,
    ) -> Predictions:
        """The k best labels of each text."""
        ...


class Method(Configured[C], ABC):
    """A way to learn from tagged texts. The constructor stores, `fit` learns, `predict` ranks label names."""

    parts: ClassVar[tuple[Part, ...]]
    """What a fitted model keeps in its folder, beside the card and the labels."""

    memory_advice: ClassVar[str] = (
        "Raise tfidf.min_df, set tfidf.max_features, raise linear.solver.threshold, or set linear.weights=float16."
    )
    """What to do if training needs more memory than there is."""

    space: LabelSpace
    """The labels that can be predicted; there after `fit`."""
    frequency: NDArray[np.int64]
    """Training texts of each label; there after `fit`."""
    training: dict[str, Any]
    """Texts, seconds and memory of the training; there after `fit`."""
    learned: Learned | None = None
    """The training texts, as digests; None if they are not known, as of a model from before they were."""
    calibration: Calibration | None = None
    """Maps from scores to probabilities; there after `calibrate`."""
    kept: KeptTexts | None = None
    """Training texts to show beside an explanation; there after `keep_texts`."""
    naming: Naming | None = None
    """What label names found in texts are worth; there after `learn_names`, unless it is nothing."""
    _origin: Origin | None = None

    def fit(self: M, data: Input, labels: Labels | None = None, *, label_names: Any = None) -> M:
        """Learn from a dataset, or from texts and the labels of each.

        Labels are lists of names, a column of a table with such lists, or a 0/1 matrix (dense or sparse) whose columns
        are called `label_names`, or by their numbers. A missing text is empty, a missing label is none.
        """
        dataset = tagged(data, labels, label_names)
        _check_learnable(dataset)
        self._origin = self.calibration = self.naming = self.kept = None
        with self.runtime.told.following(lambda: self.plan(dataset)), Meter() as meter:
            self._fit(dataset)
        self.space = dataset.space
        self.frequency = dataset.frequency
        self.learned = Learned.of(dataset.corpus)
        self.training = {
            "texts": len(dataset),
            "labels": len(dataset.space),
            "wall_seconds": round(meter.wall_seconds, 3),
            "cpu_seconds": round(meter.cpu_seconds, 3),
            "peak_rss_mib": round(meter.peak_rss_mib, 1),
            **_features_fact(self.config, dataset.corpus),
        }
        return self

    def learn_names(
        self: M,
        data: Input,
        labels: Labels | None = None,
        *,
        label_names: Any = None,
        catalogue: Catalogue | None = None,
    ) -> M:
        """Learn from held-out texts what it is worth that a label's name is found in a text.

        From then on it counts into every score; where it does not help it is left out, and `naming` is None. The
        `catalogue` has labels that may have no training text, and are suggested by their names alone: names, a
        dictionary from names to texts, or a label space. Calibrate afterwards: rankings change.
        """
        self._check_fitted()
        choice = learn_naming(self, tagged(data, labels, label_names), catalogue)
        self.adopt(choice.naming, None)
        self.training = self.training | {"label_names": choice.facts()}
        return self

    def adopt(self, naming: Naming | None, calibration: Calibration | None) -> None:
        """Take over what a model of the same labels and settings, or this one before, learned from held-out texts."""
        trained, frequency = spaces(self)
        self.naming = None if naming is None else naming.given(frequency)
        self.space = trained if naming is None else naming.space
        self.frequency = np.append(frequency, np.zeros(len(self.space) - len(trained), np.int64))
        self.calibration = None if calibration is None else calibration.moved(self.frequency)
        self._origin = None

    def calibrate(self: M, data: Input, labels: Labels | None = None, *, label_names: Any = None) -> M:
        """Learn from held-out texts and their labels how likely a label is at each score.

        From then on scores are probabilities; rankings stay as they are. Texts that the model was trained on are
        refused: it is surer of them than of others.
        """
        self._check_fitted()
        self.calibration = learn_calibration(self, tagged(data, labels, label_names))
        self._origin = None
        return self

    def predict(
        self,
        texts: Input,
        k: int = 10,
        *,
        threshold: float | str | None = None,
        labels: Iterable[str] | None = None,
        beam: int | None = None,
    ) -> Predictions:
        """The k best labels of each text, best first, with their names.

        `threshold` leaves out labels with a lower score; a calibrated model also finds the one for `"f1"`, the best F1,
        or `"precision:0.9"`, on the texts that were held out. `labels` are the only names to choose from; `beam`
        replaces the number of nodes that the search keeps at each level: more is slower and finds more.
        """
        self._check_fitted()
        check_k(k)
        ask = self._ask(k, labels, beam)
        found = self._rank(as_corpus(texts), ask)
        unseen = None
        if self.suggests_unseen:
            unseen = self.frequency == 0 if self.naming is None else self.naming.unseen
        predictions = Predictions(found.labels, found.scores, self.space.names, found.kind, unseen)
        if self.calibration is not None and self.calibration.covers(ask):
            predictions = self.calibration.apply(predictions)
        if threshold is None:
            return predictions
        return predictions.at_least(cut_at(threshold, self.calibration, predictions.kind))

    def explain(
        self, text: str, label: str | None = None, *, threshold: float | str | None = None, nearest: int = 3
    ) -> Explanation:
        """Why a label is suggested for a text, or without a label the first that is.

        What each word adds, level by level; and without which words the score would be below `threshold`: by default
        the best for F1 of a calibrated model, else the middle of the scores. A model that keeps its texts also shows
        those most like this one that carry the label, at most `nearest`.
        """
        self._check_fitted()
        return explained(self, text, label, threshold, nearest)

    def keep_texts(self: M, data: Input, labels: Labels | None = None, *, label_names: Any = None) -> M:
        """Keep texts and their labels with the model, the training texts for instance, for `explain` to show."""
        self._check_fitted()
        dataset = tagged(data, labels, label_names)
        if not len(dataset.corpus.texts):
            raise DataError("there are no texts to keep, only features; give the texts")
        self.kept = KeptTexts.of(dataset, spaces(self)[0], getattr(self, "tfidf", None), threads=self.runtime.cores)
        self._origin = None
        return self

    def _rank(self, corpus: Corpus, ask: Ask) -> Predictions:
        """Labels by number, with what their names say."""
        if self.naming is None:
            return self._predict(corpus, ask)
        inner = self.naming.inner(ask)
        listed = self.naming.nothing(len(corpus)) if inner is None else self._predict(corpus, inner)
        return self.naming.mixed(listed, corpus, ask, self.runtime)

    @property
    def suggests_unseen(self) -> bool:
        """Whether labels without a training text are suggested by their names."""
        return self.naming is not None

    @property
    def calibration_depth(self) -> int:
        """Labels of each held-out text that calibration looks at."""
        return DEPTH

    @property
    def has_beam(self) -> bool:
        """Whether labels are found by a search that keeps a beam of nodes, so that another beam can be asked for."""
        return True

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model folder, all or nothing; a model already there is replaced at the very end."""
        self._check_fitted()
        with Folder.create(path) as folder:
            self._write(folder)
            folder.write_text(FOR_PEOPLE, readme(self))

    @classmethod
    def load(cls: type[M], path: str | PathLike[str] | Folder, *, runtime: Runtime | None = None) -> M:
        """Open a saved model; its arrays are mapped, so this is quick and shared between processes."""
        folder = path if isinstance(path, Folder) else Folder.open(path)
        card = read_card(folder)
        folder.check_files()
        if card["method"] != cls.name:
            raise StoreError(f"this is a model of method '{card['method']}', not '{cls.name}'", path=folder.path)
        model = cls(config=read_config(card, cls.config_class, folder.path / CARD), runtime=runtime)
        with folder.reading():
            model.training = card["training"]
            model.frequency = folder.read_tensors("labels.safetensors", _KINDS)["frequency"]
            model.space = _read_labels(folder, len(model.frequency))
            read_parts(model, (LEARNED, *cls.parts, NAMING), folder)
            model.adopt(model.naming, None)
            read_parts(model, (CALIBRATION, KEPT), folder)
        model._origin = Origin.of(folder.path)
        return model

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled or copied: all of it, or of a model that was loaded where it is from."""
        if self._origin is None or not self._origin.unchanged():
            return self.__dict__ | {"_origin": None}
        facts = {"space", "frequency", "training"}
        stored = facts | {part.attribute for part in (LEARNED, *self.parts, NAMING, CALIBRATION, KEPT)}
        return {name: value for name, value in self.__dict__.items() if name not in stored}

    def __setstate__(self, state: dict[str, Any]) -> None:
        origin: Origin | None = state["_origin"]
        if origin is not None:
            origin.check()
            state = type(self).load(origin.path, runtime=state["runtime"]).__dict__ | state
        self.__dict__.update(state)

    def trained_on(self, texts: Input) -> NDArray[np.bool_] | None:
        """Which of the texts the model learned from; figures on those say little. None if it is not known."""
        self._check_fitted()
        return None if self.learned is None else self.learned.among(as_corpus(texts))

    def plan(self, train: Dataset) -> Plan:
        """The stages that `fit` goes through on these texts, about how long each takes, and the memory it all needs."""
        task = f"{len(train):,} texts, {len(train.space):,} labels"
        return Plan(self._stages(sizes_of(train, self.runtime.cores)), self.memory_estimate(train), task)

    def _stages(self, sizes: Sizes) -> list[Stage]:
        """The stages of a training on data of these sizes; none if the method cannot tell."""
        del sizes
        return []

    def memory_estimate(self, train: Dataset) -> int:
        """Bytes that training on these texts will need, roughly; 0 if the method cannot tell."""
        del train
        return 0

    def describe(self) -> dict[str, Any]:
        """Facts about the fitted model worth showing."""
        return {}

    def _facts(self) -> dict[str, Any]:
        if not hasattr(self, "space"):
            return {"state": "not fitted"}
        known = {} if self.naming is None else self.naming.describe()
        known |= {} if self.calibration is None else self.calibration.describe()
        return {"labels": len(self.space), "training texts": self.training["texts"], **self.describe(), **known}

    def label_tree(self) -> LabelTree | None:
        """The tree that labels are searched in, if there is one."""
        return None

    def _label_trees(self) -> Sequence[LabelTree]:
        """The trees that the nodes of an account are in."""
        tree = self.label_tree()
        return () if tree is None else (tree,)

    def _account(self, corpus: Corpus, label: int) -> Account:
        """What the score of a label for a text is made of."""
        del corpus, label
        raise ConfigError(f"models of method '{self.name}' cannot be explained")

    def _write(self, folder: Folder) -> None:
        card = {
            "format": FORMAT,
            "treetop": __version__,
            "method": self.name,
            "seed": self.runtime.seed,
            "training": self.training,
            "config": to_dict(self.config),
        }
        folder.write_json(CARD, card)
        trained, frequency = spaces(self)
        names, texts = trained.names, trained.texts
        rows = [{"label": n} for n in names] if texts is None else [
            {"label": n, "text": t} for n, t in zip(names, texts, strict=True)
        ]  # fmt: skip
        folder.write_lines(LABELS, rows)
        folder.write_tensors("labels.safetensors", {"frequency": np.asarray(frequency)})
        write_parts(self, (LEARNED, *self.parts, NAMING, CALIBRATION, KEPT), folder)

    def _check_fitted(self) -> None:
        if not hasattr(self, "space"):
            raise NotFittedError(f"this {type(self).__name__} has not learned anything yet; call fit first")

    def _ask(self, k: int, labels: Iterable[str] | None, beam: int | None) -> Ask:
        """What was asked for, checked, with the numbers of the labels."""
        if beam is not None and not self.has_beam:
            raise ConfigError(f"beam is {beam}, but this {self.name} model looks at every label; leave beam out")
        if beam is not None:
            check_whole("beam", beam)
        if beam is not None and beam < 1:
            raise ConfigError(f"beam is {beam}; keep at least one node")
        if labels is None:
            return Ask(min(k, len(self.space)), beam)
        allowed = self.space.numbers(labels)
        if not len(allowed):
            raise ConfigError("labels is empty; name at least one label to choose from, or leave labels out")
        return Ask(min(k, len(allowed)), beam, allowed)

    @abstractmethod
    def _fit(self, train: Dataset) -> None:
        """Learn; set what prediction needs."""

    @abstractmethod
    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions:
        """Rank labels by number."""


def _features_fact(config: Any, corpus: Corpus) -> dict[str, str]:
    """Where the sparse features came from, if there was a choice."""
    if corpus.features is None or not hasattr(config, "features"):
        return {}
    taken = taken_features(config.features, corpus)
    return {"features": f"{taken} ({corpus.origin})" if corpus.origin and taken != "texts" else taken}


def training_memory(train: Dataset, *, trees: int, half: bool) -> int:
    """Bytes that a linear tree on tf-idf needs, from a look at some texts: features, label representation, weights.

    With e feature entries per text, the features take 8e bytes per text, the PIFA rows at most 8e per true label, and
    the weights about half of that again per tree (measured on three corpora; pruning at 0.1).
    """
    sizes = sizes_of(train)
    per_tree = sizes.entries * sizes.true * (2 if half else 4)
    return int(sizes.characters + 8 * sizes.entries * (sizes.texts + sizes.true) + trees * per_tree)


def _check_learnable(dataset: Dataset) -> None:
    if not len(dataset):
        raise DataError("there are no texts to learn from")
    if not dataset.labels.nnz:
        raise DataError("no text has a label; at least one is needed to learn from")


def _read_labels(folder: Folder, labels: int) -> LabelSpace:
    """The names of the labels, and their texts if there are any."""
    rows = folder.read_all_lines(LABELS)
    if len(rows) != labels or not all(isinstance(row, dict) and isinstance(row.get("label"), str) for row in rows):
        problem = f"{len(rows)} lines, and not a label on each of {labels}; restore it or train again"
        raise StoreError(f"the file is damaged ({problem})", path=folder.path / LABELS)
    texts = [row["text"] for row in rows] if rows and "text" in rows[0] else None
    return LabelSpace([row["label"] for row in rows], texts)

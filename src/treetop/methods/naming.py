"""How a model learns what label names are worth, and which of its labels it was trained on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop.calibration.calibration import FEWEST_TEXTS
from treetop.data import Corpus, Dataset, LabelSpace
from treetop.errors import DataError
from treetop.methods.calibrating import HeldOutModel, held_out
from treetop.metrics.truth import as_truth
from treetop.naming import NameIndex, Naming
from treetop.naming.choosing import MOST_TEXTS, Choice, choose_weights
from treetop.naming.naming import DEPTH
from treetop.predictions import Ask, Predictions
from treetop.runtime import Runtime
from treetop.tagging import named

__all__ = ["Catalogue", "NamedModel", "learn_naming", "renewed", "spaces", "with_catalogue"]

Catalogue: TypeAlias = LabelSpace | Mapping[str, str] | Iterable[str]
"""Labels that may have no training text: names, names with texts, or a label space."""


class NamedModel(HeldOutModel, Protocol):
    """What learning names needs of a model."""

    config: Any
    runtime: Runtime
    naming: Naming | None

    def _predict(self, corpus: Corpus, ask: Ask) -> Predictions: ...


def learn_naming(model: NamedModel, dataset: Dataset, catalogue: Catalogue | None) -> Choice:
    """What names are worth to a model, from texts that it was not trained on."""
    trained, frequency = spaces(model)
    space = with_catalogue(trained, catalogue)
    dataset = held_out(model, dataset)
    if len(dataset) < FEWEST_TEXTS:
        raise DataError(
            f"{len(dataset)} held-out texts are too few to learn from what label names are worth; "
            f"give {FEWEST_TEXTS} or better a thousand"
        )
    dataset = _enough(dataset)
    tfidf = getattr(model.config, "tfidf", None)
    accents, cores = None if tfidf is None else tfidf.strip_accents, model.runtime.cores
    index = NameIndex.build(space.texts or space.names, dataset.corpus.texts, accents=accents, threads=cores)
    listed = replace(model._predict(dataset.corpus, Ask(min(DEPTH, len(trained)))), names=space.names)
    unseen = np.append(frequency == 0, np.ones(len(space) - len(trained), bool))
    terms = index.terms_of(dataset.corpus, threads=cores)
    true = as_truth(listed, dataset)
    return choose_weights(listed, terms, true, index, space, unseen, len(trained), model.runtime)


def renewed(naming: Naming, model: NamedModel, held_out: Dataset) -> Naming:
    """What was learned with one model, for another of the same settings that was trained on more texts and labels.

    Names count as they did; `held_out` are the texts that they were learned from, which also tell how rare words are.
    """
    space = with_catalogue(model.space, naming.space)
    accents, texts = naming.index.terms.config.strip_accents, _enough(held_out).corpus.texts
    index = NameIndex.build(space.texts or space.names, texts, accents=accents, threads=model.runtime.cores)
    unseen = np.append(model.frequency == 0, np.ones(len(space) - len(model.space), bool))
    return replace(naming, space=space, index=index, trained=len(model.space), unseen=unseen)


def _enough(dataset: Dataset) -> Dataset:
    """As many of the texts as are of use, evenly taken."""
    if len(dataset) <= MOST_TEXTS:
        return dataset
    return dataset.take(np.linspace(0, len(dataset) - 1, MOST_TEXTS).astype(np.int64))


def spaces(model: NamedModel) -> tuple[LabelSpace, NDArray[np.int64]]:
    """The labels that a model was trained on, without those that it knows by name only, and their training texts."""
    space, frequency = model.space, model.frequency
    if model.naming is None or len(space) == model.naming.trained:
        return space, frequency
    count = model.naming.trained
    texts = None if space.texts is None else space.texts[:count]
    return LabelSpace(space.names[:count], texts), frequency[:count]


def with_catalogue(trained: LabelSpace, catalogue: Catalogue | None) -> LabelSpace:
    """The labels of a model, and behind them those that only the catalogue has; its texts are those that count."""
    if catalogue is None:
        return trained
    if isinstance(catalogue, LabelSpace):
        names: Sequence[str] = catalogue.names
        texts = {} if catalogue.texts is None else dict(zip(catalogue.names, catalogue.texts, strict=True))
    elif isinstance(catalogue, Mapping):
        names, texts = named(list(catalogue)), {name: text for name, text in catalogue.items() if text}
    else:
        names, texts = named(catalogue), {}
    if not names:
        raise DataError("the catalogue names no label; give at least one, or leave it out")
    if trained.texts is not None:
        texts = dict(zip(trained.names, trained.texts, strict=True)) | texts
    space = trained.extended(names)
    return space.with_texts(texts) if texts else space

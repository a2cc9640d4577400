"""Who is compared, and on what: model folders and files of predictions, brought to the same texts and label numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from treetop.apps.options import Reading
from treetop.apps.predicted import READERS, read_predictions, rows_by_id
from treetop.data import Dataset, LabelSpace
from treetop.data.readers import source_of
from treetop.errors import ConfigError, DataError
from treetop.methods import Method, load
from treetop.metrics import counted
from treetop.predictions import Predictions
from treetop.runtime import Meter, Runtime

__all__ = ["Contender", "Cost", "Field", "Wanted", "line_up"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The texts to compare on, in the words of the command line."""

    data: Path
    split: str = "test"
    reading: Reading = field(default_factory=Reading)

    def read(self, space: LabelSpace | None, runtime: Runtime) -> Dataset:
        """The texts with their labels."""
        return self.reading.read(self.data, runtime, split=self.split, space=space)

    def training(self, runtime: Runtime) -> Dataset:
        """The training texts of the same data."""
        return replace(self, split="train").read(None, runtime)

    def rows(self) -> dict[str, int]:
        """The row of each text that has an id, by which predictions may name it."""
        return rows_by_id(source_of(self.data, self.split), self.reading.text, self.reading.encoding)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a model takes; None where that is not known, as of a file of predictions."""

    train_seconds: float | None = None
    train_cpu_seconds: float | None = None
    train_mib: float | None = None
    model_bytes: int | None = None
    predict_seconds: float | None = None
    predict_cpu_seconds: float | None = None
    texts_per_second: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Contender:
    """A model or a file of predictions, and its suggestions for the texts."""

    name: str
    path: Path
    predictions: Predictions
    """In the numbers of the field's labels."""
    model: Method[Any] | None = None
    cost: Cost = Cost()
    seen: float | None = None
    """Share of the texts that the model was trained on; None if that is not known."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Contenders on the same texts, with one numbering of all their labels."""

    dataset: Dataset
    contenders: tuple[Contender, ...]

    @property
    def reference(self) -> Method[Any] | None:
        """The first model: what it knows of the training texts tells common labels from rare ones."""
        return next((one.model for one in self.contenders if one.model is not None), None)

    @property
    def frequency(self) -> NDArray[np.int64] | None:
        """Training texts of each label, as the first model saw them."""
        model = self.reference
        if model is None:
            return None
        counts = np.zeros(len(self.dataset.space), np.int64)
        counts[[self.dataset.space.index[name] for name in model.space.names]] = model.frequency
        return counts


def line_up(paths: Sequence[Path], wanted: Wanted, k: int, runtime: Runtime) -> Field:
    """Load the models, read the texts once, and have every contender suggest k labels for each."""
    if len({path.resolve() for path in paths}) < len(paths):
        raise ConfigError("the same model is given twice; name each once")
    for path in paths:
        _check(path)
    models = {path: load(path, runtime=runtime) for path in paths if path.is_dir()}
    dataset = wanted.read(next((model.space for model in models.values()), None), runtime)
    rows = {} if len(models) == len(paths) else wanted.rows()
    found = []
    for path, name in zip(paths, _names(paths), strict=True):
        if path in models:
            found.append(_of_model(name, path, models[path], dataset, k))
        else:
            predictions = read_predictions(path, dataset.space.names, rows, len(dataset))
            found.append(Contender(name, path, counted(predictions, dataset).top(k)))
    return _one_numbering(dataset, found)


def _check(path: Path) -> None:
    if not path.exists():
        raise DataError("there is no such model folder, nor a file of predictions", path=path)
    if not path.is_dir() and path.suffix not in READERS:
        raise ConfigError(f"{path} is neither a model folder nor predictions; those end in {', '.join(READERS)}")


def _of_model(name: str, path: Path, model: Method[Any], dataset: Dataset, k: int) -> Contender:
    with Meter() as meter:
        predictions = counted(model.predict(dataset, k + dataset.most_filtered), dataset).top(k)
    again = model.trained_on(dataset)
    cost = Cost(
        train_seconds=model.training.get("wall_seconds"),
        train_cpu_seconds=model.training.get("cpu_seconds"),
        train_mib=model.training.get("peak_rss_mib"),
        model_bytes=sum(file.stat().st_size for file in path.rglob("*") if file.is_file()),
        predict_seconds=meter.wall_seconds,
        predict_cpu_seconds=meter.cpu_seconds,
        texts_per_second=len(dataset) / max(meter.wall_seconds, 1e-9),
    )
    return Contender(name, path, predictions, model, cost, None if again is None else float(again.mean()))


def _names(paths: Sequence[Path]) -> list[str]:
    """The last part of each path; so many parts of all of them as tell them apart."""
    whole = [path.resolve() for path in paths]
    for parts in range(1, max(len(path.parts) for path in whole) + 1):
        names = ["/".join(path.parts[-parts:]) for path in whole]
        if len(set(names)) == len(names):
            break
    return names


def _one_numbering(dataset: Dataset, contenders: Sequence[Contender]) -> Field:
    """The numbers of the data's labels for all; those that only a contender knows come behind them."""
    true = {dataset.space.names[label] for label in np.unique(dataset.labels.indices).tolist()}
    if not true:
        raise DataError(f"none of the {len(dataset):,} texts has a label; give texts whose true labels are known")
    space = dataset.space
    for one in contenders:
        names = one.predictions.names or ()
        if not true.intersection(names if one.model else _suggested(one.predictions)):
            raise DataError(
                f"none of its labels is a true label of these {len(dataset):,} texts; "
                "give texts with labels of the same catalogue, spelled as in its training data",
                path=one.path,
            )
        space = space.extended(names)
    shape = (len(dataset), len(space))
    labels = csr_array((dataset.labels.data, dataset.labels.indices, dataset.labels.indptr), shape=shape)
    wide = replace(dataset, labels=labels, space=space)
    return Field(wide, tuple(replace(one, predictions=_renumbered(one.predictions, space)) for one in contenders))


def _suggested(predictions: Predictions) -> list[str]:
    names = predictions.names or ()
    return [names[label] for label in np.unique(predictions.labels[predictions.labels >= 0]).tolist()]


def _renumbered(predictions: Predictions, space: LabelSpace) -> Predictions:
    number = np.array([*(space.index[name] for name in predictions.names or ()), -1], np.int32)  # -1 stays -1
    return replace(predictions, labels=number[predictions.labels], names=space.names)

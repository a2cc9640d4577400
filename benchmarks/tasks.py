"""Task folders: the same matrices for every peer, from data brought by path or generated."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.generate import Shape, generate
from benchmarks.statistics import statistics
from benchmarks.texts import texts_of
from treetop.config import to_dict
from treetop.data import Dataset, read, splits
from treetop.methods.resolving import decide
from treetop.methods.xr_linear import XRLinearConfig
from treetop.text import Tfidf

__all__ = ["CARD", "from_data", "from_shape"]

CARD = "task.json"
LABELS = "labels.json"
SPLITS = ("trn", "tst", "dev")


def from_data(path: Path, work: Path, *, limit: int | None = None, seed: int = 0, recipe: Path | None = None) -> Path:
    """Train, test and dev of a data folder, in any format treetop reads; `limit` takes that many training texts.

    With a recipe the matrix that all are given has its features: what auto chose, for instance.
    """
    name = path.name if limit is None else f"{path.name}-{limit}"
    name += "" if recipe is None else "-chosen"
    folder = work / "tasks" / name
    if (folder / CARD).exists():
        return folder
    train, *others = _splits(path, limit, seed)
    order = _occurring_first(train)
    labels = [_ordered(one, order) for one in (train, *others)]
    labels[0] = labels[0][:, : int(np.count_nonzero(train.frequency))]
    tfidf: dict[str, Any] | None = None
    if train.corpus.features is None:
        config = XRLinearConfig().tfidf if recipe is None else decide(None, None, str(recipe))[1].tfidf
        model, tfidf = Tfidf(config), to_dict(config)
        features = [model.fit_transform(train.corpus.texts), model.transform(others[0].corpus.texts)]
    else:
        features = [one.corpus.features for one in (train, others[0]) if one.corpus.features is not None]
    texts = [one.corpus.texts for one in (train, *others)] if train.corpus.texts else None
    about = {"name": name, "source": "data", "tfidf": tfidf, "seed": seed if limit else None}
    names = None if train.space.texts is None else [train.space.texts[label] for label in order.tolist()]
    return _write(folder, features, labels, texts, about, names)


def from_shape(name: str, shape: Shape, work: Path, *, seed: int = 0, texts: bool = False) -> Path:
    """A generated task; it has features, and if asked for texts of made-up words."""
    folder = work / "tasks" / name
    if (folder / CARD).exists():
        return folder
    made = generate(shape, seed)
    about = {"name": name, "source": "generated", "shape": asdict(shape), "seed": seed}
    features, labels = (made.train_features, made.test_features), (made.train_labels, made.test_labels)
    written = [texts_of(matrix, seed) for matrix in features] if texts else None
    return _write(folder, features, labels, written, about)


def _splits(path: Path, limit: int | None, seed: int) -> list[Dataset]:
    """Train, test, and dev if there is one: settings are chosen on it."""
    train = read(path, split="train")
    parts = [train, *(read(path, split=name, space=train.space) for name in ("test", "dev") if name in splits(path))]
    if limit is None:
        return parts
    rng = np.random.default_rng(seed)
    sizes = [limit, *[max(1000, limit // 5)] * (len(parts) - 1)]
    return [part.take(np.sort(rng.permutation(len(part))[:size])) for part, size in zip(parts, sizes, strict=True)]


def _occurring_first(train: Dataset) -> NDArray[np.int64]:
    """Peers are given only labels that have a training text; the others are true in the test texts, at the end."""
    return np.argsort(train.frequency == 0, kind="stable")


def _ordered(data: Dataset, order: NDArray[np.int64]) -> sp.csr_matrix:
    """The labels in another order; those that only this split has, behind them."""
    columns = np.concatenate([order, np.arange(len(order), data.labels.shape[1])])
    return sp.csr_matrix(data.labels)[:, columns]


def _write(
    folder: Path,
    features: Sequence[Any],
    labels: Sequence[Any],
    texts: Sequence[Sequence[str]] | None,
    about: Any,
    names: Sequence[str] | None = None,
) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for split, x in zip(SPLITS, features, strict=False):
        sp.save_npz(folder / f"X.{split}.npz", sp.csr_matrix(x), compressed=False)
    for split, y in zip(SPLITS, labels, strict=False):
        sp.save_npz(folder / f"Y.{split}.npz", sp.csr_matrix(y), compressed=False)
    if names is not None:
        (folder / LABELS).write_text(json.dumps(names), encoding="utf-8")
    for split, rows in zip(SPLITS, texts or (), strict=False):
        lines = (" ".join(text.split()) + "\n" for text in rows)
        with (folder / f"{split}.txt").open("w", encoding="utf-8") as file:
            file.writelines(lines)
    card = {
        **about,
        "texts": texts is not None,
        "test_texts": int(labels[1].shape[0]),
        "statistics": statistics(sp.csr_matrix(features[0]), sp.csr_matrix(labels[0])),
    }
    (folder / CARD).write_text(json.dumps(card, indent=1))  # last: a folder with a card is complete
    return folder

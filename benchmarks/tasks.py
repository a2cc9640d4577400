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

from benchmarks.generate import Shape, generate
from benchmarks.statistics import statistics
from benchmarks.texts import texts_of
from treetop.config import to_dict
from treetop.data import Dataset, read
from treetop.methods.xr_linear import XRLinearConfig
from treetop.text import Tfidf

__all__ = ["CARD", "from_data", "from_shape"]

CARD = "task.json"


def from_data(path: Path, work: Path, *, limit: int | None = None, seed: int = 0) -> Path:
    """Train and test of a data folder, in any format treetop reads; `limit` takes that many training texts."""
    name = path.name if limit is None else f"{path.name}-{limit}"
    folder = work / "tasks" / name
    if (folder / CARD).exists():
        return folder
    train, test = _splits(path, limit, seed)
    labels = _occurring_first(train.labels, test.labels)
    tfidf: dict[str, Any] | None = None
    if train.corpus.features is None:
        config = XRLinearConfig().tfidf
        model, tfidf = Tfidf(config), to_dict(config)
        features = model.fit_transform(train.corpus.texts), model.transform(test.corpus.texts)
    else:
        assert test.corpus.features is not None
        features = train.corpus.features, test.corpus.features
    texts = (train.corpus.texts, test.corpus.texts) if train.corpus.texts else None
    about = {"name": name, "source": "data", "tfidf": tfidf, "seed": seed if limit else None}
    return _write(folder, features, labels, texts, about)


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


def _splits(path: Path, limit: int | None, seed: int) -> tuple[Dataset, Dataset]:
    train = read(path, split="train")
    test = read(path, split="test", space=train.space)
    if limit is None:
        return train, test
    rng = np.random.default_rng(seed)
    train = train.take(np.sort(rng.permutation(len(train))[:limit]))
    test = test.take(np.sort(rng.permutation(len(test))[: max(1000, limit // 5)]))
    return train, test


def _occurring_first(train: Any, test: Any) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Peers are given only labels that have a training text; the others are true in the test texts, at the end."""
    used = np.bincount(train.indices, minlength=test.shape[1]) > 0
    order = np.argsort(~used, kind="stable")
    return sp.csr_matrix(train)[:, order[: used.sum()]], sp.csr_matrix(test)[:, order]


def _write(
    folder: Path, features: Sequence[Any], labels: Sequence[Any], texts: Sequence[Sequence[str]] | None, about: Any
) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for split, x, y in zip(("trn", "tst"), features, labels, strict=True):
        sp.save_npz(folder / f"X.{split}.npz", sp.csr_matrix(x), compressed=False)
        sp.save_npz(folder / f"Y.{split}.npz", sp.csr_matrix(y), compressed=False)
    for split, rows in zip(("trn", "tst"), texts or (), strict=False):
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

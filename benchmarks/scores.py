"""How good a peer's predictions are, by treetop's own metrics, the same for all."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from treetop.metrics import Propensity, breakdown, evaluate, paired_difference
from treetop.predictions import Predictions
from treetop.sparse import canonical
from treetop.types import CSR

__all__ = ["METRICS", "PAIRED", "load_labels", "score"]

METRICS = ("p@1", "p@3", "p@5", "r@10", "psp@1", "psp@3", "psp@5", "ndcg@5")
PAIRED = ("p@1", "p@3", "p@5", "r@10")
"""Whose differences the page lists; those of all metrics tell what is noise."""


def score(task: Path, predicted: Path, reference: Path | None) -> dict[str, Any]:
    """Metrics as fractions, their parts by label frequency, and the differences from the reference.

    Labels that occur only in the test texts count as true: nobody can find them, so all peers lose alike.
    """
    labels, train = load_labels(task, "tst"), load_labels(task, "trn")
    frequency = np.bincount(train.indices, minlength=train.shape[1])
    propensity = Propensity(a=0.55, b=1.5, train_texts=train.shape[0])
    mine = _predictions(predicted)
    result = {
        "metrics": evaluate(mine, labels, METRICS, frequency=frequency, propensity=propensity),
        "bands": breakdown(mine, labels, ("p@5", "psp@5"), frequency=frequency, propensity=propensity),
    }
    if reference is not None and reference.exists() and reference != predicted:
        other = _predictions(reference)
        compare = partial(paired_difference, mine, other, labels, frequency=frequency, propensity=propensity)
        result["paired"] = {name: list(compare(name)) for name in METRICS}
    return result


def load_labels(task: Path, split: str) -> CSR:
    """The true labels of `trn` or `tst`."""
    return canonical(sp.load_npz(task / f"Y.{split}.npz"))


def _predictions(path: Path) -> Predictions:
    with np.load(path) as stored:
        return Predictions(stored["labels"], stored["scores"])

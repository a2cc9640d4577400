"""Which texts settings are judged on: the dev texts, or training texts held out, several times over if they are few.

A few hundred texts cannot tell settings apart that differ by a point. So where little is held out the best settings are
trained again without other texts, and judged on those, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from treetop.data import Dataset
from treetop.data.splitting import rows_by_ratio
from treetop.errors import DataError

__all__ = ["MOST", "Fold", "fold_off"]

MOST = 5_000
"""Texts to choose on, at most: enough to tell half a point of P@1."""
_SHARE, _HELD_OUT, _LARGEST_SHARE = 0.1, 400, 0.2  # of the training texts: more of few of them
_FOLDS = 4


class Fold(NamedTuple):
    """Texts to learn from while settings are tried, and others to judge them on, in random order."""

    learned: Dataset
    held_out: Dataset


def fold_off(train: Dataset, dev: Callable[[], Dataset] | None, seed: int) -> list[Fold]:
    """One fold with the dev texts; without them folds that hold out different texts, until `MOST` are held out."""
    if dev is not None:
        return [_fold(train, dev(), seed)]
    share = min(max(_SHARE, _HELD_OUT / len(train)), _LARGEST_SHARE, MOST / len(train))
    rest, found = np.arange(len(train)), list[Fold]()
    for number in range(min(_FOLDS, int(MOST / (share * len(train))))):
        kept, out = rows_by_ratio(train.corpus.take(rest), 1 - share / (1 - number * share), seed)
        learned = np.delete(np.arange(len(train)), rest[out])
        found.append(_fold(train.take(learned), train.take(rest[out]), seed))
        rest = rest[kept]
    return found


def _fold(learned: Dataset, held_out: Dataset, seed: int) -> Fold:
    tagged = np.flatnonzero(np.diff(held_out.labels.indptr) > 0)
    if not len(tagged) or not learned.labels.nnz:
        raise DataError("no held-out text has a label, so nothing can be chosen on them; name a method or a preset")
    return Fold(learned, held_out.take(np.random.default_rng(seed).permutation(tagged)[:MOST]))

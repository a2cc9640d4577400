"""What happened on held-out texts: which suggestions, at which probability, were right. Thresholds are chosen from it.

It is kept with the model, so that any precision can be asked for later. The probabilities in it are those of maps that
had not seen the text in question, as for texts to come.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.calibration.aims import Aim
from treetop.metrics.ranking import Judged
from treetop.types import Floats, Ids

__all__ = ["ENOUGH", "Curve", "Evidence"]

ENOUGH = 20
"""Held-out texts that a label must have for a threshold of its own, and suggestions that a precision must rest on."""
_FAINT = 0.01  # suggestions below are not kept: they are many, and no threshold is that low

Doubles = NDArray[np.float64]


class Curve(NamedTuple):
    """What each threshold did on held-out texts; thresholds fall."""

    threshold: Floats
    precision: Doubles
    recall: Doubles
    microf1: Doubles
    macrof1: Doubles
    labels_per_text: Doubles


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Suggestions for held-out texts, by falling probability."""

    label: Ids
    probability: Floats
    hit: NDArray[np.bool_]
    true: NDArray[np.int64]
    """Held-out texts of each label, those included that no suggestion found."""
    texts: int

    @classmethod
    def of(cls, judged: Judged, probabilities: Floats, labels: int) -> Evidence:
        """From judged predictions of so many labels and their probabilities; labels beyond count as one."""
        kept = (judged.labels >= 0) & (probabilities >= _FAINT)
        label, probability, hit = judged.labels[kept], probabilities[kept], judged.hits[kept]
        order = np.lexsort((label, -probability))
        true = np.bincount(np.minimum(judged.true.indices, labels), minlength=labels + 1)
        return cls(label[order], probability[order], hit[order], true.astype(np.int64), len(judged.labels))

    def renumbered(self, number: NDArray[np.int64], labels: int) -> Evidence:
        """The same with a number for each label among more labels."""
        true = np.zeros(labels + 1, np.int64)
        true[number], true[labels] = self.true[:-1], self.true[-1]
        return replace(self, label=number[self.label].astype(np.int32), true=true)

    def checked(self, labels: int) -> Evidence:
        """The same, if it can be that of so many labels: every number is looked at once."""
        count = len(self.label)
        whole = len(self.probability) == len(self.hit) == count and len(self.true) == labels + 1
        if not whole or self.texts < 0 or not bool(((self.label >= 0) & (self.label <= labels)).all()):
            raise ValueError(f"evidence that is not that of {labels:,} labels")
        if not bool(((self.probability >= 0) & (self.probability <= 1)).all() and (self.true >= 0).all()):
            raise ValueError("evidence with impossible numbers")
        return self

    def curve(self) -> Curve:
        """Precision, recall, F1 and labels per text at every threshold worth telling apart."""
        given, right, all_true = np.arange(1, len(self.hit) + 1), np.cumsum(self.hit), max(int(self.true.sum()), 1)
        ends = np.append(self.probability[1:] < self.probability[:-1], True)[: len(self.hit)]
        columns = (
            self.probability, right / given, right / all_true, 2 * right / (given + all_true), self._macro(),
            given / max(self.texts, 1),
        )  # fmt: skip
        return Curve(*(column[ends] for column in columns))

    def threshold(self, aim: Aim) -> float | Floats:
        """The threshold that reached the aim, or one for each label; infinite where nothing reaches it."""
        whole = self._whole(aim)
        if not aim.per_label:
            return whole
        own = np.full(len(self.true) - 1, whole, np.float32)
        order = np.argsort(self.label, kind="stable")
        often = np.intersect1d(self.label, np.flatnonzero(self.true >= ENOUGH))
        first, last = (np.searchsorted(self.label[order], often, side) for side in ("left", "right"))
        for label, start, end in zip(often.tolist(), first.tolist(), last.tolist(), strict=True):
            own[label] = self._of_label(order[start:end], int(self.true[label]), aim)
        return own

    def _whole(self, aim: Aim) -> float:
        curve = self.curve()
        if aim.goal == "precision":
            given = np.round(curve.labels_per_text * self.texts)
            return _lowest(curve.threshold, (curve.precision >= aim.precision) & (given >= ENOUGH))
        return _best(curve.threshold, curve.microf1 if aim.goal == "f1" else curve.macrof1)

    def _of_label(self, rows: NDArray[Any], true: int, aim: Aim) -> float:
        """The threshold of one label from its own suggestions."""
        threshold, right, given = self.probability[rows], np.cumsum(self.hit[rows]), np.arange(1, len(rows) + 1)
        ends = np.append(threshold[1:] < threshold[:-1], True)
        if aim.goal == "precision":
            return _lowest(threshold, ends & (right / given >= aim.precision))
        return _best(threshold, np.where(ends, 2 * right / (given + true), -1))

    def _macro(self) -> Doubles:
        """Macro-F1 after each suggestion: each changes the F1 of its own label only."""
        order = np.argsort(self.label, kind="stable")
        label = self.label[order]
        start = np.flatnonzero(np.append(True, label[1:] != label[:-1])[: len(label)])
        before = np.repeat(start, np.diff(np.append(start, len(label))))
        right = np.cumsum(self.hit[order])
        right = right - (right - self.hit[order])[before]
        given = np.arange(1, len(label) + 1) - before
        after = np.where(self.true[label] > 0, 2 * right / (given + self.true[label]), 0.0)
        change = after - np.where(given > 1, np.append(0.0, after[:-1])[: len(after)], 0.0)
        gained = np.empty(len(label))
        gained[order] = change
        return np.cumsum(gained) / max(int((self.true > 0).sum()), 1)


def _lowest(threshold: Floats, reached: NDArray[np.bool_]) -> float:
    return float(threshold[np.flatnonzero(reached)[-1]]) if reached.any() else float("inf")


def _best(threshold: Floats, value: Doubles) -> float:
    return float(threshold[np.argmax(value)]) if len(value) else float("inf")

"""Probabilities from the scores of any method, learned from texts that were held out.

1. The 50 best labels of each held-out text are judged right or wrong.
2. In each band of label frequency, isotonic regression maps a score to the share of right ones (`isotonic.py`).
3. A list keeps the order of its scores. Where probabilities would rise along it, because a rare label stands above a
   common one, neighbours share their mean: the closest list that agrees with the ranking (`kernels.probabilities`).
   Labels of bands that are seldom suggested count more in that mean, or the many common ones would decide for them.

Where label names count, the first label of a text, those up to the tenth and those behind have maps of their own: by
its name a label far down a list may have the score that the first of another text has, and is right less often.

Sorting by probability instead would cost precision: bands are blunt, and scores compare labels within a text better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from treetop.calibration.aims import Aim, parse_aim
from treetop.calibration.bands import band_of, edges_with_enough
from treetop.calibration.evidence import Evidence
from treetop.calibration.isotonic import rising_map
from treetop.errors import DataError, StoreError
from treetop.kernels import Curves, probabilities
from treetop.metrics.ranking import Judged, judge
from treetop.predictions import Ask, Kind, Predictions
from treetop.store import Folder
from treetop.types import CSR, Floats, Ids

__all__ = ["DEPTH", "FEWEST_TEXTS", "MOST_TEXTS", "NAME", "Calibration"]

DEPTH = 50
"""Labels of each held-out text that are judged, unless a model has reasons of its own."""
FEWEST_TEXTS = 50
"""Held-out texts below which nothing is learned."""
MOST_TEXTS = 20_000
"""Held-out texts beyond which nothing more is learned: the maps no longer change, and time and storage grow."""
NAME = "calibration.json"
_TENSORS = "calibration.safetensors"
_KINDS: dict[str, type[np.generic]] = {
    "start": np.int64, "knot": np.float32, "value": np.float32, "weight": np.float32, "band": np.uint8,
    "label": np.int32, "probability": np.float32, "hit": np.uint8, "true": np.int64,
}  # fmt: skip
_PARTS = (1, 10)  # where parts of a list end
_KINDS_BEHIND = {f"behind {place} {name}": _KINDS[name] for place in _PARTS for name in Curves._fields}
_FEWEST_HITS = 30  # and as many misses
_FOLDS = 5
_BEST = 10  # labels of a text that people look at


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Maps from scores to probabilities, and the evidence that thresholds are chosen from."""

    edges: NDArray[np.int64]
    """The largest number of training texts in each band of labels but the last."""
    band: NDArray[np.uint8]
    """The band of each label."""
    curves: Curves
    """The map of each band."""
    evidence: Evidence
    kind: Kind
    """What the scores are that are mapped."""
    depth: int
    """Labels of each held-out text that were judged."""
    top_probability: float | None = None
    """The mean probability of the best label of a held-out text, as for texts to come; None if it was not kept."""
    behind: tuple[Curves, ...] = ()
    """The maps of labels behind the first and behind the tenth, if these have maps of their own."""
    _found: dict[Aim, float | Floats] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def fit(
        cls, predictions: Predictions, true: CSR, frequency: NDArray[np.int64], *, apart: bool = False
    ) -> Calibration:
        """From the predictions for held-out texts, their true labels, and the training texts of each label.

        `apart` gives the first label of a text, those up to the tenth and those behind maps of their own.
        """
        judged = judge(predictions, true, predictions.k)
        _check_enough(judged)
        given = judged.labels >= 0
        edges = edges_with_enough(judged.labels[given], judged.hits[given], frequency)
        band = band_of(frequency, edges)
        fold = np.arange(len(predictions)) % _FOLDS
        unseen = np.zeros(predictions.scores.shape, np.float32)
        weight = _weights(judged, band)
        for number in range(_FOLDS):
            rows = np.flatnonzero(fold == number)
            maps = _fit_maps(predictions, judged, band, weight, fold != number, apart)
            unseen[rows] = _mapped(predictions.labels[rows], predictions.scores[rows], band, maps)
        evidence = Evidence.of(judged, unseen, len(frequency))
        curves, *behind = _fit_maps(predictions, judged, band, weight, fold >= 0, apart)
        top = float(unseen[:, 0].mean())
        return cls(edges, band, curves, evidence, predictions.kind, predictions.k, top, tuple(behind))

    def covers(self, ask: Ask) -> bool:
        """Whether scores mean what they did on held-out texts; places in lists do so only in lists of all labels."""
        return self.kind != "rank" or (ask.allowed is None and ask.k <= self.depth)

    def apply(self, predictions: Predictions) -> Predictions:
        """The same labels in the same order with probabilities instead of scores."""
        p = predictions
        found = _mapped(p.labels, p.scores, self.band, (self.curves, *self.behind))
        return Predictions(p.labels, found, p.names, "probability", p.unseen)

    def threshold(self, aim: str) -> float | Floats:
        """The probability at or above which labels reach an aim such as `precision:0.9`; or one for each label."""
        wanted = parse_aim(aim)
        if wanted not in self._found:  # a walk through all the evidence, and asked for with every text
            self._found[wanted] = self.evidence.threshold(wanted)
        return self._found[wanted]

    def moved(self, frequency: NDArray[np.int64]) -> Calibration:
        """The same maps for a model of the same labels that was trained again, on more texts."""
        return replace(self, band=band_of(frequency, self.edges))

    def renumbered(self, number: NDArray[np.int64], labels: int) -> Calibration:
        """The same for a model of more labels, in which each label has the given number."""
        band = np.zeros(labels, np.uint8)
        band[number] = self.band
        return replace(self, band=band, evidence=self.evidence.renumbered(number, labels))

    def describe(self) -> dict[str, Any]:
        """Facts worth showing."""
        return {"calibrated on": f"{self.evidence.texts:,} texts, {len(self.edges) + 1} bands of label frequency"}

    def save(self, folder: Folder) -> None:
        """Write it into a model folder."""
        about = {"texts": self.evidence.texts, "kind": self.kind, "depth": self.depth, "edges": self.edges.tolist()}
        folder.write_json(NAME, about | {"top_probability": self.top_probability})
        arrays = {name: getattr(self.evidence, name) for name in ("label", "probability", "hit", "true")}
        arrays["hit"] = arrays["hit"].astype(np.uint8)
        for place, maps in zip(_PARTS, self.behind, strict=False):
            arrays |= {f"behind {place} {name}": array for name, array in maps._asdict().items()}
        folder.write_tensors(_TENSORS, arrays | self.curves._asdict() | {"band": self.band})

    @classmethod
    def load(cls, folder: Folder, labels: int) -> Calibration:
        """Read it from the folder of a model with so many labels."""
        about, arrays = folder.read_json(NAME), folder.read_tensors(_TENSORS, _KINDS | _KINDS_BEHIND)
        with folder.reading(_TENSORS):
            even = {"weight": np.ones(len(arrays["start"]) - 1, np.float32)}  # of calibrations that had no weights yet
            curves = Curves(*((even | arrays)[name] for name in Curves._fields))
            behind = tuple(
                Curves(*(arrays[f"behind {place} {name}"] for name in Curves._fields))
                for place in _PARTS
                if f"behind {place} start" in arrays
            )
            for maps in (curves, *behind):
                _check_stored(maps, arrays["band"], labels, folder)
            columns = (arrays["label"], arrays["probability"], arrays["hit"].astype(bool), arrays["true"])
        with folder.reading(NAME):
            evidence = Evidence(*columns, int(about["texts"])).checked(labels)
            top, kind = about.get("top_probability"), about["kind"]
            if kind not in get_args(Kind):
                raise ValueError(f"scores of kind {kind!r}")
            edges, top = np.array(about["edges"], np.int64), None if top is None else float(top)
            return cls(edges, arrays["band"], curves, evidence, kind, int(about["depth"]), top, behind)


def _weights(judged: Judged, band: NDArray[np.uint8]) -> Floats:
    """How much a label of each band counts: one over the root of how often such labels are among the best of a text."""
    best = judged.labels[:, :_BEST]
    often = np.maximum(np.bincount(band[best[best >= 0]], minlength=int(band.max(initial=0)) + 1), 1)
    weights: Floats = np.sqrt(often.sum() / often).astype(np.float32)
    return weights


def _fit_maps(
    predictions: Predictions,
    judged: Judged,
    band: NDArray[np.uint8],
    weight: Floats,
    texts: NDArray[np.bool_],
    apart: bool,
) -> list[Curves]:
    """The maps from some of the texts; if labels are taken `apart`, for each part of the list that has some."""
    taken = (judged.labels >= 0) & texts[:, None]
    part = np.searchsorted(_PARTS, np.arange(taken.shape[1]), "right") * apart
    there = [part == number for number in range(len(_PARTS) + 1)]
    return [_fit_curves(predictions, judged, band, weight, taken & own) for own in there if taken[:, own].any()]


def _mapped(labels: Ids, scores: Floats, band: NDArray[np.uint8], maps: Sequence[Curves]) -> Floats:
    """The probabilities of ranked labels; what stands behind is at most what stands before."""
    found = np.empty(labels.shape, np.float32)
    width = labels.shape[1]
    for curves, (start, end) in zip(maps, pairwise((0, *_PARTS[: len(maps) - 1], width)), strict=True):
        if start >= width:
            break
        part = probabilities(labels[:, start:end], scores[:, start:end], band, curves)
        found[:, start:end] = np.minimum(part, found[:, start - 1 : start]) if start else part
    return found


def _fit_curves(
    predictions: Predictions, judged: Judged, band: NDArray[np.uint8], weight: Floats, taken: NDArray[np.bool_]
) -> Curves:
    """The map of each band from some labels of some texts."""
    scores, hits, bands = predictions.scores[taken], judged.hits[taken], band[judged.labels[taken]]
    maps = [_map_of(scores, hits, bands == number) for number in range(len(weight))]
    start = np.concatenate([[0], np.cumsum([len(knots) for knots, _ in maps])])
    knots, values = (np.concatenate(parts) for parts in zip(*maps, strict=True))
    return Curves(start, knots, values, weight)


def _map_of(scores: Floats, hits: NDArray[np.bool_], here: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The map of one band; if none of its labels was suggested, that of all labels."""
    return rising_map(scores[here], hits[here]) if here.any() else rising_map(scores, hits)


def _check_enough(judged: Judged) -> None:
    texts, hits = len(judged.labels), int(judged.hits.sum())
    misses = int((judged.labels >= 0).sum()) - hits
    if texts < FEWEST_TEXTS:
        raise DataError(f"{texts} held-out texts are too few to calibrate on; give {FEWEST_TEXTS} or better a thousand")
    if min(hits, misses) < _FEWEST_HITS:
        raise DataError(
            f"of the labels suggested for {texts:,} held-out texts {hits:,} are right and {misses:,} wrong; "
            f"calibration needs {_FEWEST_HITS} of each: give more texts, with labels as in the training data"
        )


def _check_stored(curves: Curves, band: NDArray[Any], labels: int, folder: Folder) -> None:
    """Refuse what the native code would stumble over."""
    start, knot, value, weight = curves
    whole = len(start) > 1 and start[0] == 0 and (np.diff(start) > 0).all() and start[-1] == len(knot) == len(value)
    whole = whole and len(weight) == len(start) - 1 and bool((np.isfinite(weight) & (weight > 0)).all())
    whole = whole and bool(np.isfinite(knot).all() and ((value >= 0) & (value <= 1)).all())
    if not whole or len(band) != labels or band.max(initial=0) > len(start) - 2:
        problem = f"bands and maps that do not fit the {labels:,} labels of the model"
        raise StoreError(f"the file is damaged ({problem}); calibrate the model again", path=folder.path / _TENSORS)

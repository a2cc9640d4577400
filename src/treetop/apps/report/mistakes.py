"""The worst errors as texts: where a model was sure and wrong, and where it found nothing of what is true.

Many such texts turn out to be labelled wrongly, or not completely; they are the first to look at in any case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.apps.comparing import Contender, Field
from treetop.errors import TreetopError
from treetop.methods import Method
from treetop.metrics.ranking import Judged, judge

__all__ = ["Mistake", "Reason", "Suggested", "Truth", "mistakes"]

_EACH = 8  # of a kind
_LENGTH = 600  # characters of a text
_SHOWN = 5  # suggestions
_REASONS = 6  # words
_DEPTH = 10  # suggestions among which nothing true is to be found


@dataclass(frozen=True, slots=True)
class Truth:
    """A true label of a text."""

    label: str
    text: str
    """The label's own text; its name if it has none."""
    place: int | None
    """In the list of suggestions, from 1; None if it is not in it."""
    training_texts: int | None
    """None if that is not known."""


@dataclass(frozen=True, slots=True)
class Suggested:
    """A label that was suggested for it."""

    label: str
    text: str
    score: float
    right: bool


@dataclass(frozen=True, slots=True)
class Reason:
    """A word of the text, and what it added to the margin of the first suggestion, wherever it stands."""

    word: str
    contribution: float


@dataclass(frozen=True, slots=True)
class Mistake:
    """A text that was labelled wrongly."""

    kind: str
    """`sure` or `blind`."""
    row: int
    text: str
    """Its beginning."""
    true: tuple[Truth, ...]
    suggested: tuple[Suggested, ...]
    reasons: tuple[Reason, ...] = ()
    """What spoke for the first suggestion; empty where a model cannot tell."""


def mistakes(one: Contender, field: Field) -> list[Mistake]:
    """Some texts of each kind, the worst first; none if there are features only."""
    if not len(field.dataset.corpus.texts):
        return []
    judged = judge(one.predictions, field.dataset.labels, one.predictions.k)
    sure = _worst(one.predictions.scores[:, 0], _wrong_first(judged))
    blind = np.setdiff1d(_worst(judged.true_counts, _nothing_found(judged)), sure, assume_unique=True)
    kinds = [("sure", row) for row in sure.tolist()] + [("blind", row) for row in blind.tolist()]
    return [_mistake(kind, row, one, field, judged) for kind, row in kinds]


def _wrong_first(judged: Judged) -> NDArray[np.bool_]:
    """Texts with labels, the first suggestion for which is none of them."""
    return (judged.labels[:, 0] >= 0) & ~judged.hits[:, 0] & (judged.true_counts > 0)


def _nothing_found(judged: Judged) -> NDArray[np.bool_]:
    return ~judged.hits[:, :_DEPTH].any(axis=1) & (judged.true_counts > 0)


def _worst(values: NDArray[np.generic], among: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The rows of the highest values."""
    rows = np.flatnonzero(among)
    return rows[np.argsort(-values[rows].astype(np.float64), kind="stable")][:_EACH]


def _mistake(kind: str, row: int, one: Contender, field: Field, judged: Judged) -> Mistake:
    space, frequency = field.dataset.space, field.frequency
    names, texts = space.names, space.texts or space.names
    places = {label: place for place, label in enumerate(judged.labels[row].tolist(), 1)}
    true = [
        Truth(names[label], texts[label], places.get(label), None if frequency is None else int(frequency[label]))
        for label in judged.true[[row]].indices.tolist()
    ]
    found = zip(
        *(part[row, :_SHOWN].tolist() for part in (judged.labels, one.predictions.scores, judged.hits)), strict=True
    )
    suggested = tuple(Suggested(names[label], texts[label], score, hit) for label, score, hit in found if label >= 0)
    ordered = sorted(true, key=lambda each: (each.place or len(places) + 1, each.label))
    text = field.dataset.corpus.texts[row]
    reasons = () if not suggested or one.model is None else _reasons(one.model, text, suggested[0].label)
    return Mistake(kind, row, _beginning(text), tuple(ordered), suggested, reasons)


def _reasons(model: Method[Any], text: str, label: str) -> tuple[Reason, ...]:
    """The words that spoke for a label the most."""
    try:
        words = model.explain(text, label, nearest=0).words
    except TreetopError:  # a model on ready-made features has no words to tell of
        return ()
    sums: dict[str, float] = {}
    for one in words:
        sums[one.word.lower()] = sums.get(one.word.lower(), 0.0) + one.contribution
    best = sorted(sums.items(), key=lambda item: -item[1])[:_REASONS]
    return tuple(Reason(word, value) for word, value in best if value > 0)


def _beginning(text: str) -> str:
    squeezed = " ".join(text[: 4 * _LENGTH].split())
    return squeezed if len(squeezed) <= _LENGTH else squeezed[: _LENGTH - 1] + "…"

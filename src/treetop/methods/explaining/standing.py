"""Where a label stands among a model's suggestions for a text."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from treetop.data import LabelSpace
from treetop.errors import DataError
from treetop.predictions import Kind, Predictions

__all__ = ["Standing", "standing_of"]

_DEPTH = 50


class _Predicts(Protocol):
    space: LabelSpace

    def predict(self, texts: Any, k: int = 10, *, labels: Any = None) -> Predictions: ...


class Standing(NamedTuple):
    """A label for a text: its score, and its place if it is among the first fifty."""

    label: int
    score: float
    kind: Kind
    rank: int | None


def standing_of(model: _Predicts, text: str, label: int | None = None) -> Standing:
    """Where a label stands, or the first that is suggested; of a label that is not found, what its score would be."""
    found = model.predict([text], min(_DEPTH, len(model.space)))
    if label is None:
        label = int(found.labels[0, 0])
    if label < 0:
        raise DataError("the model suggests no label for the text; name one to see why it does not")
    places = np.flatnonzero(found.labels[0] == label)
    if places.size:
        return Standing(label, float(found.scores[0, places[0]]), found.kind, int(places[0]) + 1)
    alone = model.predict([text], 1, labels=[model.space.names[label]])
    return Standing(label, float(alone.scores[0, 0]), alone.kind, None)

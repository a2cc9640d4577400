"""From predictions to what is sent: names, texts, scores."""

from __future__ import annotations

import numpy as np

from treetop.apps.serve.messages import Suggested, Suggestion
from treetop.apps.serve.model import ServedModel
from treetop.predictions import Predictions

__all__ = ["results"]

_DIGITS = 6


def results(model: ServedModel, found: Predictions) -> list[Suggested]:
    """The suggestions for each text, best first."""
    certain = found.kind == "probability"
    names, texts, unseen = model.model.space.names, model.model.space.texts, model.unseen
    scores = np.round(found.scores.astype(np.float64), _DIGITS).tolist()
    return [
        Suggested(
            [
                Suggestion(
                    names[label],
                    None if texts is None else texts[label],
                    score,
                    score if certain else None,
                    label in unseen,
                )
                for label, score in zip(row, row_scores, strict=True)
                if label >= 0
            ]
        )
        for row, row_scores in zip(found.labels.tolist(), scores, strict=True)
    ]

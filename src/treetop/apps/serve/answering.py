"""How texts get their predictions: at once where that takes a fraction of a millisecond, else by a queue."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treetop.apps.serve.batching import pieces_of
from treetop.apps.serve.endpoint import Call, ClientGoneError
from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.service import Service
from treetop.apps.serve.watch import Watch
from treetop.predictions import Predictions

__all__ = ["at_once", "predict"]

_AT_ONCE = 16_384
"""Characters of texts that a linear model is asked about in between; longer ones would keep others waiting."""


def at_once(
    service: Service, model: ServedModel, texts: Sequence[str], k: int, labels: Sequence[str] | None = None
) -> Predictions | None:
    """The k best labels of each text where that takes no waiting; else None."""
    if texts and (model.needs_encoder or sum(map(len, texts)) > _AT_ONCE):
        return None
    found = model.predict(texts, k, labels, service.watch.took if texts else None)
    _count(service.watch, model, found, labels)
    return found


async def predict(
    call: Call, model: ServedModel, texts: Sequence[str], k: int, labels: Sequence[str] | None = None
) -> Predictions:
    """The k best labels of each text."""
    found = at_once(call.service, model, texts, k, labels)
    if found is None:
        found = await _queued(call, model, texts, k, labels)
        _count(call.service.watch, model, found, labels)
    return found


def _count(watch: Watch, model: ServedModel, found: Predictions, labels: Sequence[str] | None) -> None:
    watch.suggested(model.name, len(found))
    if labels is None:  # else the best label is one of a few, and tells nothing about the text
        _look_for_drift(watch, model, found)


def _look_for_drift(watch: Watch, model: ServedModel, found: Predictions) -> None:
    labels, scores = found.labels[:, 0].tolist(), found.scores[:, 0].tolist()
    if found.kind == "probability":
        watch.best(model.name, len(labels), sum(scores))
    if model.empty is not None:
        watch.known_words(model.name, len(labels), list(zip(labels, scores, strict=True)).count(model.empty))


async def _queued(
    call: Call, model: ServedModel, texts: Sequence[str], k: int, labels: Sequence[str] | None
) -> Predictions:
    queue = call.service.queue_of(model)
    pieces = pieces_of(model, texts, k, None if labels is None else tuple(labels), queue.budget)
    queue.submit(pieces)
    left: asyncio.Future[Any] = asyncio.ensure_future(call.left())
    parts: list[Predictions] = []
    try:
        for piece in pieces:
            await asyncio.wait({left, piece.answer}, return_when=asyncio.FIRST_COMPLETED)
            if not piece.answer.done():
                raise ClientGoneError
            parts.append(piece.answer.result())
        return _joined(parts)
    finally:
        for piece in pieces:
            piece.drop()
        left.cancel()


def _joined(parts: Sequence[Predictions]) -> Predictions:
    if len(parts) == 1:
        return parts[0]
    labels = np.concatenate([part.labels for part in parts])
    return replace(parts[0], labels=labels, scores=np.concatenate([part.scores for part in parts]))

"""`POST /v1/suggest`: labels for texts."""

from __future__ import annotations

from treetop.apps.serve.answering import at_once, predict
from treetop.apps.serve.endpoint import Call, Endpoint
from treetop.apps.serve.explaining import explain
from treetop.apps.serve.messages import SuggestRequest, SuggestResponse
from treetop.apps.serve.model import ServedModel
from treetop.apps.serve.service import Service
from treetop.apps.serve.suggesting import results
from treetop.predictions import Predictions

__all__ = ["ENDPOINT", "suggest"]


async def suggest(call: Call, asked: SuggestRequest) -> SuggestResponse:
    """The best labels of each text, and why if that is asked for."""
    model = call.service.shelf[asked.model]
    given = _response(model, await predict(call, model, asked.texts, asked.k, asked.labels), asked)
    if asked.explain:
        await explain(call, model, asked.texts, given.results)
    return given


def suggest_at_once(service: Service, asked: SuggestRequest) -> SuggestResponse | None:
    """The same without waiting, if that can be."""
    if asked.explain:
        return None
    model = service.shelf[asked.model]
    found = at_once(service, model, asked.texts, asked.k, asked.labels)
    return None if found is None else _response(model, found, asked)


def _response(model: ServedModel, found: Predictions, asked: SuggestRequest) -> SuggestResponse:
    found = model.cut(found, asked.threshold)
    return SuggestResponse(model.name, model.version, found.kind, results(model, found))


ENDPOINT = Endpoint(
    "POST", "/v1/suggest", suggest, "Suggest labels for texts", gives=SuggestResponse, takes=SuggestRequest,
    at_once=suggest_at_once,
)  # fmt: skip

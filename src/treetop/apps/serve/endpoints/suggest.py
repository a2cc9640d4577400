"""`POST /v1/suggest`: labels for texts."""

from __future__ import annotations

from treetop.apps.serve.answering import predict
from treetop.apps.serve.endpoint import Call, Endpoint
from treetop.apps.serve.explaining import explain
from treetop.apps.serve.messages import SuggestRequest, SuggestResponse
from treetop.apps.serve.suggesting import results

__all__ = ["ENDPOINT", "suggest"]


async def suggest(call: Call, asked: SuggestRequest) -> SuggestResponse:
    """The best labels of each text, and why if that is asked for."""
    model = call.service.shelf[asked.model]
    found = model.cut(await predict(call, model, asked.texts, asked.k, asked.labels), asked.threshold)
    told = results(model, found)
    if asked.explain:
        await explain(call, model, asked.texts, told)
    return SuggestResponse(model.name, model.version, found.kind, told)


ENDPOINT = Endpoint(
    "POST", "/v1/suggest", suggest, "Suggest labels for texts", gives=SuggestResponse, takes=SuggestRequest
)

"""`GET /health`: 200 once every model has answered a text."""

from __future__ import annotations

import time

from treetop.apps.serve.endpoint import Call, Endpoint
from treetop.apps.serve.messages import Health, HealthOfModel
from treetop.apps.serve.problems import ProblemError

__all__ = ["ENDPOINT", "health"]


async def health(call: Call, _asked: None) -> Health:
    """The models that answer."""
    if not call.service.shelf.complete:
        raise ProblemError(503, "models are being loaded", headers={"retry-after": "1"})
    if call.service.draining:
        raise ProblemError(503, "the service is ending; ask another", headers={"connection": "close"})
    now = time.monotonic()
    models = [HealthOfModel(model.name, model.version, round(now - model.since, 1)) for model in call.service.shelf]
    return Health("UP", models)


ENDPOINT = Endpoint("GET", "/health", health, "Whether the service answers", gives=Health, open=True)

"""`GET /v1/models`: what is served."""

from __future__ import annotations

from treetop.apps.serve.endpoint import Call, Endpoint
from treetop.apps.serve.messages import Models

__all__ = ["ENDPOINT", "models"]


async def models(call: Call, _asked: None) -> Models:
    """All models, the first one first."""
    return Models([model.describe() for model in call.service.shelf])


ENDPOINT = Endpoint("GET", "/v1/models", models, "List the models", gives=Models)

"""`GET /v1/labels`: search among the labels of a model."""

from __future__ import annotations

from treetop.apps.serve.endpoint import Call, Endpoint
from treetop.apps.serve.messages import LabelQuery, Labels

__all__ = ["ENDPOINT", "labels"]


async def labels(call: Call, asked: LabelQuery) -> Labels:
    """Labels with all words of the query in their name or text."""
    model = call.service.shelf[asked.model]
    return Labels([model.label(number) for number in model.search.find(asked.query, asked.limit)])


ENDPOINT = Endpoint("GET", "/v1/labels", labels, "Search labels by name or text", gives=Labels, query=LabelQuery)

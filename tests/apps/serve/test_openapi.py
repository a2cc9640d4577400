"""The description says what the code does."""

from __future__ import annotations

from typing import Any

from serving import Served
from treetop.apps.serve.endpoints import ALL


def references(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {part["$ref"].rpartition("/")[2]} if "$ref" in part else set()
        return own.union(*(references(value) for value in part.values()))
    return set().union(*(references(value) for value in part)) if isinstance(part, list) else set()


def test_everything_that_can_be_asked_is_described(service: Served) -> None:
    description = service.get("/openapi.json").json
    described = {(path, method.upper()) for path, methods in description["paths"].items() for method in methods}
    assert described == {(one.path, one.method) for one in ALL if one.group}
    assert references(description) <= set(description["components"]["schemas"])
    names = [about["operationId"] for methods in description["paths"].values() for about in methods.values()]
    assert len(names) == len(set(names))


def test_queries_and_bodies_are_those_of_the_types(service: Served) -> None:
    description = service.get("/openapi.json").json
    labels = {one["name"]: one for one in description["paths"]["/v1/labels"]["get"]["parameters"]}
    assert labels["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20}
    assert labels["model"]["schema"] == {"type": "string"}
    assert not any(one["required"] for one in labels.values())
    suggest = description["components"]["schemas"]["SuggestRequest"]
    assert suggest["required"] == ["texts"]
    assert suggest["additionalProperties"] is False

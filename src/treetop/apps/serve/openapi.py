"""The OpenAPI description, made of the types that requests are checked by: it cannot say anything but what holds."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from treetop.apps.serve.endpoint import Endpoint
from treetop.apps.serve.messages import Problem
from treetop.version import __version__

__all__ = ["describe"]

_REF = "#/components/schemas/{name}"
_PROBLEMS = {
    "400": "not valid JSON, or no valid query",
    "401": "a key is asked for",
    "404": "there is no such model, node, or path",
    "405": "the path has no such method",
    "408": "the request did not arrive in time",
    "413": "the body is too long",
    "415": "another content type is expected",
    "422": "well formed, but not what is expected; `field` names the place",
    "429": "too much to do: come back after the seconds of the header Retry-After",
    "503": "not yet, or no longer, able to answer",
}


def describe(endpoints: Sequence[Endpoint], *, keys: bool) -> dict[str, Any]:
    """The description of some endpoints, `keys` says whether requests need one."""
    kinds = [kind for one in endpoints for kind in (one.takes, one.gives, one.query) if kind is not None]
    _, components = msgspec.json.schema_components([*kinds, Problem], ref_template=_REF)
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "treetop",
            "version": __version__,
            "description": "Labels for texts. Errors are application/problem+json; a 429 says in Retry-After when to "
            "come back.",
        },
        "paths": _paths(endpoints),
        "components": {"schemas": components},
    }
    if keys:
        found["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    return found


def _paths(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return paths


def _operation(one: Endpoint) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": one.summary,
        "description": inspect.getdoc(one.answer) or "",
        "operationId": re.sub(r"\W+", "_", f"{one.method.lower()}{one.path}").strip("_"),
        "tags": [one.group],
        "responses": {str(one.status): _answer(one), **{status: _problem(why) for status, why in _PROBLEMS.items()}},
    }
    parameters = [*_path_parameters(one.path), *_query_parameters(one.query)]
    if parameters:
        found["parameters"] = parameters
    if one.takes is not None:
        kind = "application/x-www-form-urlencoded" if one.form else "application/json"
        found["requestBody"] = {"required": True, "content": {kind: {"schema": _schema(one.takes)}}}
    return found


def _answer(one: Endpoint) -> dict[str, Any]:
    if one.gives is not None:
        return {"description": "the answer", "content": {"application/json": {"schema": _schema(one.gives)}}}
    if one.plain is not None:
        return {"description": "the answer", "content": {one.plain: {"schema": {"type": "string"}}}}
    return {"description": "done; there is nothing to say"}


def _problem(why: str) -> dict[str, Any]:
    return {"description": why, "content": {"application/problem+json": {"schema": _schema(Problem)}}}


def _schema(kind: Any) -> Any:
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=_REF)
    return schema


def _path_parameters(path: str) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)}", path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _query_parameters(kind: Any) -> list[dict[str, Any]]:
    """Each field of the query's type; null is said by leaving it out."""
    if kind is None:
        return []
    schema = msgspec.json.schema(kind)
    fields = schema["$defs"][kind.__name__]
    return [_parameter(name, about, name in fields["required"]) for name, about in fields["properties"].items()]


def _parameter(name: str, about: dict[str, Any], required: bool) -> dict[str, Any]:
    about = dict(about)
    described = about.pop("description", None)
    if "anyOf" in about:
        kinds = [kind for kind in about.pop("anyOf") if kind != {"type": "null"}]
        about |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if about.get("default", 0) is None:
        del about["default"]
    found = {"name": name, "in": "query", "required": required, "schema": about}
    return found | ({"description": described} if described else {})

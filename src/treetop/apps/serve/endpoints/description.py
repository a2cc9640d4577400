"""`GET /openapi.json` and `GET /docs`: what can be asked, for programs and for people."""

from __future__ import annotations

import json

from treetop.apps.serve.endpoint import Call, Endpoint, Plain
from treetop.apps.serve.handbook import CSS, handbook
from treetop.apps.serve.openapi import describe

__all__ = ["ENDPOINTS"]

_HTML = "text/html; charset=utf-8"
_ALONE = {"content-security-policy": "default-src 'self'; base-uri 'none'; frame-ancestors 'none'"}


async def openapi(call: Call, _asked: None) -> Plain:
    """The description of all endpoints, for programs."""
    return Plain(json.dumps(_description(call), indent=1).encode(), "application/json")


async def docs(call: Call, _asked: None) -> Plain:
    """The same for people, as a page that needs no network."""
    return Plain(handbook(_description(call)).encode(), _HTML, _ALONE)


async def style(_call: Call, _asked: None) -> Plain:
    """What the page of the description looks like."""
    return Plain(CSS.encode(), "text/css; charset=utf-8")


def _description(call: Call) -> dict[str, object]:
    from treetop.apps.serve.endpoints import ALL

    return describe([one for one in ALL if one.group], keys=call.service.keys is not None)


ENDPOINTS = (
    Endpoint("GET", "/openapi.json", openapi, "OpenAPI description", plain="application/json", open=True),
    Endpoint("GET", "/docs", docs, "Description for people", plain="text/html", open=True),
    Endpoint("GET", "/docs.css", style, "Style of the description", plain="text/css", open=True, group=""),
)

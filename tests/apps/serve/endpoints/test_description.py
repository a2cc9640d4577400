"""The description over HTTP."""

from __future__ import annotations

from serving import Served


def test_kinds_and_safety(service: Served) -> None:
    assert service.get("/openapi.json").json["openapi"] == "3.1.0"
    assert service.get("/docs").headers["content-security-policy"].startswith("default-src 'self'")

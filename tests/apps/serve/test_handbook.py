"""The description for people."""

from __future__ import annotations

import re

from serving import Served


def test_the_page_needs_no_network_and_no_script(service: Served) -> None:
    page = service.get("/docs")
    html = page.body.decode()
    assert page.headers["content-type"].startswith("text/html")
    assert "<script" not in html.lower()
    assert set(re.findall(r"(?:href|src)='([^'#]+)", html)) == {"docs.css", "openapi.json"}
    assert service.get("/docs.css").headers["content-type"].startswith("text/css")


def test_links_lead_to_types_that_are_there(service: Served) -> None:
    html = service.get("/docs").body.decode()
    assert set(re.findall(r"href='#(\w+)'", html)) <= set(re.findall(r"id='(\w+)'", html))
    assert "/v1/suggest --json" in html
    assert "(1 to 1000)" in html

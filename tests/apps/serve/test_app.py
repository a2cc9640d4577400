"""The application as a whole: the page, and what lies beside all paths."""

from __future__ import annotations

from pathlib import Path

from serving import Served, served
from treetop.apps.serve.settings import Settings


def test_the_page_may_load_nothing_from_elsewhere(service: Served) -> None:
    page = service.get("/")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith("default-src 'self'; ")
    assert page.headers["x-content-type-options"] == "nosniff"


def test_paths_that_do_not_exist(service: Served) -> None:
    for path in ("/nothing", "/v1/nothing", "/../server.py", "/%2e%2e/server.py", "/..%2fserver.py"):
        for answer in (service.get(path), service.post(path, {})):
            assert answer.status == 404, path
            assert "nothing at this path" in answer.problem


def test_a_service_without_a_page(plain_folder: Path) -> None:
    with served({"plain": plain_folder}, Settings(port=0, feedback=None, ui=False)) as bare:
        assert bare.get("/").status == 404
        assert bare.suggest("topic1").status == 200

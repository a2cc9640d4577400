"""Pages in a real browser: Chromium, driven by Playwright. Without them tests are skipped; see `make test-browser`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser_watch import Watched

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""What Chromium is called, from system to system."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever is tested in this folder is tested in a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def _absent(what: str) -> None:
    if os.environ.get("TREETOP_BROWSER") == "needed":
        pytest.fail(f"{what} is missing, and `make test-browser` needs it")
    pytest.skip(f"{what} is missing; see `make test-browser`")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser, started once."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        _absent("playwright")
    found = os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        _absent("Chromium")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox"])  # containers run as root
        yield browser
        browser.close()


@pytest.fixture
def watched(chromium: Any) -> Iterator[Watched]:
    """A fresh tab; at the end nothing may have gone wrong in it, and nothing may have left the machine."""
    context = chromium.new_context()
    watch = Watched(context.new_page())
    watch.page.on("console", lambda said: watch.troubles.append(said.text) if said.type == "error" else None)
    watch.page.on("pageerror", lambda error: watch.troubles.append(str(error)))
    watch.page.on("request", lambda request: watch.asked.append(request.url))
    yield watch
    context.close()
    assert watch.troubles == []
    assert watch.abroad == []

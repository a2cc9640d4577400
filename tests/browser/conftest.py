"""Pages in a real browser: Chromium, driven by Playwright. Without them tests are skipped; see `make test-browser`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from browser_watch import Watched
from served_page import PageService, open_page, page_service
from treetop.data import Dataset
from treetop.labels import TreeConfig
from treetop.methods.xr_linear import XRLinear, XRLinearConfig

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


@pytest.fixture(scope="session")
def page_models(toy_train: Dataset, toy_test: Dataset, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two model folders as `treetop serve` takes them: one calibrated with label texts, one without either."""
    folder = tmp_path_factory.mktemp("page")
    config = XRLinearConfig(tree=TreeConfig(max_leaf=8))
    described = toy_train.space.with_texts({name: name.replace("label", "About") for name in toy_train.space.names})
    XRLinear(config).fit(replace(toy_train, space=described)).calibrate(toy_test).save(folder / "toy")
    XRLinear(config).fit(toy_train).save(folder / "plain")
    return [str(folder / "toy"), str(folder / "plain")]


@pytest.fixture(scope="session")
def running(chromium: Any, page_models: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageService]:
    """A service that all tests of the page share."""
    with page_service(tmp_path_factory.mktemp("feedback"), *page_models) as service:
        yield service


@pytest.fixture
def page(watched: Watched, running: PageService) -> Any:
    """The page, with the models known."""
    return open_page(watched, running.url)

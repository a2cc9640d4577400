"""The page of `treetop serve`: keys, screen readers, colours, small screens, and that nothing leaves the machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from browser_watch import Watched
from served_page import PageService, open_page, page_service, write


def focused(page: Any, what: str = "id") -> str:
    """Something of the element that has the focus."""
    return str(page.evaluate(f"document.activeElement.getAttribute('{what}')"))


def test_the_suggestions_by_keys(page: Any) -> None:
    rows = write(page)
    page.focus("#text")
    with page.expect_response("**/v1/suggest"):
        page.keyboard.press("Control+Enter")
    rows.nth(0).locator(".accept").focus()
    page.keyboard.press("a")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    assert rows.nth(0).locator(".accept").get_attribute("aria-pressed") == "true"
    assert rows.nth(1).locator(".reject").get_attribute("aria-pressed") == "true"
    page.keyboard.press("ArrowUp")
    with page.expect_response("**/v1/suggest"):
        page.evaluate("() => document.getElementById('ask').click()")
    page.wait_for_function("() => document.activeElement.dataset.action")  # also after the list was made anew
    assert rows.nth(0).locator(".accept").evaluate("button => button === document.activeElement")


def test_the_tabs_by_keys_and_by_address(page: Any, running: PageService) -> None:
    page.focus("#tab-suggest")
    page.keyboard.press("ArrowRight")
    assert focused(page) == "tab-batch"
    assert page.locator("#batch").is_visible()
    page.keyboard.press("ArrowLeft")
    page.go_back()
    page.locator("#batch").wait_for()
    page.goto(f"{running.url}/#browse")
    page.reload()
    page.locator("#browse [role=treeitem]").first.wait_for()


def test_adding_by_keys(page: Any) -> None:
    write(page)
    page.focus("#adding input")
    page.keyboard.type("About 5")
    page.locator("#adding [role=option]").nth(6).wait_for()
    page.keyboard.press("ArrowDown")
    assert focused(page, "aria-activedescendant") == "adding-list-1"
    page.keyboard.press("Escape")
    assert not page.locator("#adding [role=listbox]").is_visible()
    assert focused(page, "aria-expanded") == "false"


def test_every_part_can_be_reached_and_shows_its_focus(page: Any) -> None:
    write(page)
    seen = set()
    page.keyboard.press("Tab")
    for _ in range(80):
        page.keyboard.press("Tab")
        seen.add(focused(page) if focused(page) != "None" else focused(page, "aria-label"))
        visible = page.evaluate(
            "(e => getComputedStyle(e).outlineStyle !== 'none' || getComputedStyle(e.parentElement).outlineStyle !== "
            "'none' || e === document.body)(document.activeElement)"
        )
        assert visible, focused(page)
    assert {"model", "theme", "text", "ask", "k", "aim", "Copy as CSV", "Add a label"} <= seen
    assert any(name.startswith("Accept About") for name in seen)


def test_everything_that_can_be_used_has_a_name(page: Any) -> None:
    write(page).nth(0).locator(".accept").click()
    for tab in ("suggest", "batch", "browse"):
        page.click(f"#tab-{tab}")
        if tab == "browse":
            page.get_by_role("treeitem").first.wait_for()
        for kind in ("button", "combobox", "textbox", "slider", "spinbutton", "checkbox", "tab", "treeitem"):
            for one in page.get_by_role(kind).all():
                named = one.aria_snapshot()
                assert re.match(rf'- {kind} "[^"]+|- text', named) or '"' in named, named


def test_colours_are_chosen_and_kept(page: Any) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    page.click("#theme")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.evaluate(ground) != light
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"


@pytest.mark.parametrize("tab", ["suggest", "batch", "browse"])
def test_a_phone_needs_no_scrolling_sideways(watched: Watched, running: PageService, tab: str) -> None:
    watched.page.set_viewport_size({"width": 360, "height": 740})
    page = open_page(watched, running.url)
    write(page).nth(0).locator(".accept").click()
    page.click(f"#tab-{tab}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_less_motion_is_respected(watched: Watched, running: PageService) -> None:
    watched.page.emulate_media(reduced_motion="reduce")
    page = open_page(watched, running.url)
    write(page)
    assert page.evaluate("getComputedStyle(document.getElementById('suggestions')).transitionDuration") == "0s"


def test_help_tells_the_keys(page: Any) -> None:
    page.click("#help-open")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_the_page_is_strict_about_what_it_loads(page: Any, watched: Watched, running: PageService) -> None:
    response = page.request.get(running.url)
    assert "default-src 'self'" in response.headers["content-security-policy"]
    assert not re.search(r"\sstyle=|\son\w+=|<script(?! type=\"module\" src=)", response.text())
    assert all(address.startswith(running.url) for address in watched.asked)
    assert len(watched.asked) > 20


def test_a_service_with_keys_asks_for_one(watched: Watched, page_models: list[str], tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("the-right-key-of-this-test\n")
    with page_service(tmp_path / "feedback", *page_models, "--api-keys", str(tmp_path / "keys")) as service:
        watched.page.goto(service.url)
        page = watched.page
        page.locator("#key-dialog").wait_for()
        page.fill("#key", "another one")
        page.keyboard.press("Enter")
        page.get_by_text("That key was not accepted").wait_for()
        page.get_by_role("button", name="Not now").click()
        page.locator(".message", has_text="asks for a key").wait_for()
        page.get_by_role("button", name="Try again").click()
        page.fill("#key", "the-right-key-of-this-test")
        page.get_by_role("button", name="Use the key").click()
        assert write(page).count() == 10
        page.reload()
        assert write(page).count() == 10
    watched.troubles.clear()

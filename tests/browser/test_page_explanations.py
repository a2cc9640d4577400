"""The page of `treetop serve`: why a label is suggested."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser_watch import Watched
from served_page import TEXT, PageService, open_page, page_service, write
from treetop.data import Dataset
from treetop.methods.registry import load


@pytest.fixture(scope="module")
def with_texts(
    chromium: Any, page_models: list[str], toy_train: Dataset, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PageService]:
    """A service of a model that keeps its training texts."""
    folder = tmp_path_factory.mktemp("kept")
    load(Path(page_models[0])).keep_texts(toy_train).save(folder / "kept")
    with page_service(folder / "feedback", str(folder / "kept")) as service:
        yield service


def marked(page: Any, kind: str) -> list[str]:
    """Words of the text that are marked."""
    return [str(word) for word in page.locator(f".backdrop mark.{kind}").all_inner_texts()]


def row_of(page: Any, title: str) -> Any:
    """The row of a label."""
    return page.locator(".suggestion").filter(has=page.get_by_text(title, exact=True))


def test_words_are_marked_for_the_label_pointed_at(page: Any) -> None:
    write(page)
    row_of(page, "About 0-1").hover()
    page.locator(".legend strong", has_text="About 0-1").wait_for()
    assert {"word0x1x0", "word0x1x1"} <= set(marked(page, "for"))
    assert "word0x2x2" not in marked(page, "for")
    row_of(page, "About 0-2").locator(".accept").focus()
    page.locator(".legend strong", has_text="About 0-2").wait_for()
    assert "word0x2x2" in marked(page, "for")
    with page.expect_response("**/v1/suggest"):
        page.fill("#text", f"{TEXT} more")
    page.wait_for_function("() => !document.querySelector('.backdrop mark')")


def test_marks_stand_behind_their_words(page: Any) -> None:
    write(page, f"🌲 a tree — {TEXT}")
    row_of(page, "About 0-1").hover()
    page.locator(".legend strong").wait_for()
    assert "word0x1x0" in marked(page, "for")
    same = "() => document.querySelector('.backdrop').offsetHeight === document.getElementById('text').offsetHeight"
    assert page.evaluate(same)


def test_why_tells_words_path_and_what_to_remove(page: Any) -> None:
    write(page)
    row = row_of(page, "About 0-1")
    row.get_by_role("button", name="Why About 0-1?").click()
    row.locator(".explanation").wait_for()
    words = row.locator(".contributions").first.locator("th").all_inner_texts()
    assert set(words[:3]) >= {"word0x1x0", "word0x1x1"}
    assert row.locator(".contributions .number").first.inner_text().startswith("+")
    assert "below the threshold" in row.locator(".explanation").inner_text()
    row.get_by_text("The way through the label tree").click()
    assert row.locator(".path li").last.inner_text().startswith("About 0-1")
    row.get_by_role("button", name="Why About 0-1?").click()
    assert not row.locator(".why-place").is_visible()


def test_texts_nearby_are_shown_where_the_model_keeps_them(watched: Watched, with_texts: PageService) -> None:
    page = open_page(watched, with_texts.url)
    write(page)
    page.keyboard.press("Tab")
    row_of(page, "About 0-1").locator(".accept").focus()
    page.keyboard.press("w")
    near = page.locator(".near")
    page.get_by_text("Texts of the training that have this label").click()
    near.wait_for()
    assert "word0x1" in near.inner_text()
    assert "% alike" in near.inner_text()


def test_a_text_without_known_words(page: Any) -> None:
    write(page, "zebra")
    page.locator(".suggestion .why").first.click()
    page.get_by_text("the model knows no word of this text").wait_for()
    assert marked(page, "for") == []


def test_explanations_are_asked_for_once(page: Any) -> None:
    write(page)
    asked: list[Any] = []
    page.on("request", lambda request: asked.append(request.post_data_json))
    for label in ("About 0-1", "About 0-2", "About 0-1"):
        row_of(page, label).locator(".accept").focus()
        page.locator(".legend strong", has_text=label).wait_for()
    assert [one["labels"] for one in asked] == [["label 0-1"], ["label 0-2"]]
    assert all(one["explain"] for one in asked)

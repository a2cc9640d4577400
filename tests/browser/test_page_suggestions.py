"""The page of `treetop serve`: a text, its suggestions, and what a person makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from browser_watch import Watched
from served_page import TEXT, PageService, open_page, page_service, titles, write


def test_a_text_gets_suggestions_with_probabilities(page: Any) -> None:
    rows = write(page)
    assert set(titles(page)[:2]) == {"About 0-1", "About 0-2"}
    assert rows.nth(0).locator("output").inner_text().endswith("%")
    assert rows.nth(0).locator("code").inner_text().startswith("label 0-")
    widths = [rows.nth(at).locator(".bar").evaluate("bar => +bar.style.getPropertyValue('--share')") for at in (0, 9)]
    assert widths[0] > 0.3 > widths[1]
    assert "suggestions. First: About" in page.locator("#status").inner_text()
    assert "8 words" not in page.locator("#text-facts").inner_text()
    assert "6 words" in page.locator("#text-facts").inner_text()


def test_an_empty_text_has_none(page: Any) -> None:
    write(page)
    page.click("#text-clear")
    page.locator("#suggestions-none").wait_for()
    assert titles(page) == []


def test_the_number_of_labels_follows_slider_and_field(page: Any) -> None:
    write(page)
    page.locator("#k-slider").fill("3")
    page.locator(".suggestion").nth(3).wait_for(state="detached")
    assert page.input_value("#k") == "3"
    page.fill("#k", "5")
    page.locator(".suggestion").nth(4).wait_for()
    assert len(titles(page)) == 5


def test_thresholds_by_number_and_by_aim(page: Any) -> None:
    write(page)
    page.select_option("#aim", "value")
    page.fill("#cut", "0.2")
    page.locator(".suggestion").nth(9).wait_for(state="detached")
    assert 0 < len(titles(page)) < 10
    for aim in ("auto", "f1-macro", "precision"):
        with page.expect_response("**/v1/suggest") as answer:
            page.select_option("#aim", aim)
        assert answer.value.status == 200
        assert answer.value.request.post_data_json["threshold"] == {"precision": "precision:0.9"}.get(aim, aim)
    assert page.locator("#cut-field").is_visible()
    page.select_option("#aim", "all")
    assert not page.locator("#cut-field").is_visible()


def test_nothing_as_sure_as_that_is_said(page: Any) -> None:
    page.select_option("#aim", "value")
    page.fill("#cut", "1")
    page.fill("#text", "noise1 noise2")
    page.get_by_text("no label as sure as that").wait_for()


def test_another_model_is_asked_and_promises_no_probabilities(page: Any) -> None:
    write(page)
    page.select_option("#aim", "auto")
    with page.expect_response("**/v1/suggest") as answer:
        page.select_option("#model", "plain")
    assert answer.value.json()["model"] == "plain"
    page.get_by_text("scores are not probabilities").wait_for()
    assert page.input_value("#aim") == "all"
    page.locator(".suggestion .title", has_text="label 0-").first.wait_for()
    assert "%" not in page.locator(".suggestion output").first.inner_text()
    assert page.locator("#aim option").count() == 2


def test_accept_reject_add_and_send(page: Any, running: PageService) -> None:
    rows = write(page)
    suggested = [json.loads(row) for row in rows.evaluate_all("rows => rows.map(row => JSON.stringify(row.label))")]
    rows.nth(0).locator(".accept").click()
    rows.nth(2).locator(".reject").click()
    assert rows.nth(0).locator(".accept").get_attribute("aria-pressed") == "true"
    page.fill("#adding input", "About 5-")
    found = page.locator("#adding [role=option]").nth(1)
    wanted = found.locator(".title").inner_text()
    found.click()
    assert page.locator(".suggestion.own .title").inner_text() == wanted
    page.fill("#adding input", "quite new")
    page.keyboard.press("Enter")
    page.locator(".suggestion.own").nth(1).wait_for()
    page.fill("#user", "Ada")
    assert page.locator("#decided-facts").inner_text() == "1 accepted, 1 rejected, 2 added"
    page.click("#send")
    page.get_by_text("Thank you: 4 decisions kept").first.wait_for()
    assert not page.locator("#decided").is_visible()
    kept = running.kept()[-1]
    assert kept["text"] == TEXT
    assert kept["accepted"] == [suggested[0]["label"]]
    assert kept["rejected"] == [suggested[2]["label"]]
    assert kept["added"] == [wanted.replace("About", "label"), "quite new"]
    assert (kept["model"], kept["user"]) == ("toy", "Ada")


def test_decisions_are_taken_back(page: Any) -> None:
    rows = write(page)
    rows.nth(1).locator(".reject").click()
    rows.nth(1).locator(".reject").click()
    assert not page.locator("#decided").is_visible()
    rows.nth(1).locator(".reject").click()
    rows.nth(1).locator(".accept").click()
    assert rows.nth(1).locator(".reject").get_attribute("aria-pressed") == "false"
    page.fill("#adding input", "About 5-2")
    page.locator("#adding [role=option]").first.wait_for()
    page.keyboard.press("Enter")
    page.get_by_label("Remove About 5-2").click()
    assert page.locator(".suggestion.own").count() == 0
    page.click("#decided-clear")
    assert not page.locator("#decided").is_visible()


def test_decisions_outlive_editing_but_not_another_text(page: Any) -> None:
    rows = write(page)
    rows.nth(0).locator(".accept").click()
    with page.expect_response("**/v1/suggest"):
        page.fill("#text", f"{TEXT} noise9")
    assert page.locator("#decided-facts").inner_text() == "1 accepted"
    with page.expect_response("**/v1/suggest"):
        page.fill("#text", "word3x3x1 something else altogether")
    assert not page.locator("#decided").is_visible()


def test_an_accepted_label_that_is_no_longer_suggested_stays(page: Any) -> None:
    rows = write(page)
    rows.nth(4).locator(".accept").click()
    wanted = rows.nth(4).locator(".title").inner_text()
    page.fill("#k", "2")
    page.locator(".suggestion.own").wait_for()
    assert page.locator(".suggestion.own .title").inner_text() == wanted


@pytest.mark.parametrize("form", ["Text", "JSON", "CSV"])
def test_labels_are_copied(page: Any, form: str, running: PageService) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=running.url)
    rows = write(page)
    page.fill("#k", "3")
    page.locator(".suggestion").nth(3).wait_for(state="detached")
    shown = titles(page)
    button = page.get_by_label(f"Copy as {form}")
    button.click()
    page.locator("#copies", has_text="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    if form == "Text":
        assert copied.splitlines() == shown
        rows.nth(1).locator(".accept").click()
        button.click()
        page.wait_for_function("(word) => navigator.clipboard.readText().then(text => text === word)", arg=shown[1])
    elif form == "JSON":
        assert [one["text"] for one in json.loads(copied)] == shown
        assert json.loads(copied)[0]["probability"] > 0.3
    else:
        assert copied.splitlines()[0] == "label,text,score,probability,decision"
        assert copied.count("\n") == 4


def test_a_file_becomes_the_text(page: Any) -> None:
    file = {"name": "a.txt", "mimeType": "", "buffer": b"topic1 caf\xe9\r\nword1x1x1"}
    page.set_input_files("#text-file", files=[file])
    page.locator(".suggestion").first.wait_for()
    assert page.input_value("#text") == "topic1 café\nword1x1x1"
    page.set_input_files("#text-file", files=[{**file, "buffer": b"\x00\x01\x02"}])
    page.locator(".message", has_text="is no text file").wait_for()
    assert page.input_value("#text").startswith("topic1")


def test_a_file_is_dropped(page: Any) -> None:
    page.evaluate(
        """() => {
        const held = new DataTransfer();
        held.items.add(new File(["topic2 word2x1x1"], "note.txt"));
        const drop = (kind) => new DragEvent(kind, { dataTransfer: held, bubbles: true, cancelable: true });
        for (const kind of ["dragenter", "dragover", "drop"]) document.getElementById("text").dispatchEvent(drop(kind));
        }"""
    )
    page.locator(".suggestion").first.wait_for()
    assert page.input_value("#text") == "topic2 word2x1x1"
    assert page.locator("#suggest.over").count() == 0


def test_emoji_and_halves_of_characters_are_sent_well_formed(page: Any) -> None:
    page.evaluate("document.getElementById('text').value = 'topic1 \\ud800 word1x1x1 🌲'")
    with page.expect_response("**/v1/suggest") as answer:
        page.click("#ask")
    assert answer.value.status == 200
    assert answer.value.request.post_data_json["texts"] == ["topic1 � word1x1x1 🌲"]


def test_names_are_never_read_as_html(page: Any) -> None:
    write(page)
    page.fill("#adding input", "<img src=x onerror=alert(1)>")
    page.locator("#adding [role=option]").first.wait_for()
    page.keyboard.press("Enter")
    assert page.locator(".suggestion.own .title").inner_text() == "<img src=x onerror=alert(1)>"
    assert page.locator("#suggestions img").count() == 0


def test_a_text_that_is_too_long_is_refused_in_words(watched: Watched, page_models: list[str], tmp_path: Path) -> None:
    with page_service(tmp_path, *page_models, "--body-limit", "1000") as service:
        page = open_page(watched, service.url)
        page.fill("#text", "word " * 400)
        page.locator(".message", has_text="more than the service takes at once").wait_for()
        assert "1,000 bytes" in page.locator(".message").inner_text()
        write(page)
        assert page.locator(".message").count() == 0
    watched.troubles.clear()


def test_a_service_that_is_gone_and_comes_back(watched: Watched, page_models: list[str], tmp_path: Path) -> None:
    with page_service(tmp_path / "one", *page_models) as service:
        page = open_page(watched, service.url)
        write(page)
    page.fill("#text", f"{TEXT} more")
    page.locator(".message", has_text="The service does not answer").wait_for()
    port = service.url.rpartition(":")[2]
    with page_service(tmp_path / "two", *page_models, "--port", port):
        page.get_by_role("button", name="Try again").click()
        page.locator(".message").wait_for(state="detached")
        assert len(titles(page)) == 10
    watched.troubles.clear()

"""The page of `treetop serve`: many texts in a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from browser_watch import Watched
from served_page import titles


def give(page: Any, name: str, content: str) -> Any:
    """Choose a file in the tab for many texts."""
    page.click("#tab-batch")
    page.set_input_files("#batch-file", files=[{"name": name, "mimeType": "", "buffer": content.encode()}])
    page.locator(".batch-work h2", has_text=name).wait_for()
    return page.locator(".batch-work")


def run(work: Any) -> None:
    """Ask for all, and wait for them."""
    work.get_by_role("button", name="Suggest labels for all").click()
    work.get_by_text("Done:").wait_for()


def saved(page: Any, form: str) -> str:
    """What a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=form).click()
    return Path(download.value.path()).read_text()


def table(rows: int) -> str:
    """A csv with an id, a title and a body."""
    lines = [f'{at},"topic{at % 6}, first","word{at % 6}x1x0 ""quoted""\nword{at % 6}x1x1"' for at in range(rows)]
    return "id,title,body\n" + "\n".join(lines)


def test_a_csv_gets_its_suggestions(page: Any) -> None:
    work = give(page, "works.csv", table(70))
    assert "70 texts" in work.inner_text()
    assert work.get_by_label("title").is_checked()
    assert not work.get_by_label("id").is_checked()
    page.fill("#k", "2")
    run(work)
    rows = list(csv.DictReader(saved(page, "csv, a row for each text").splitlines(keepends=True)))
    assert [row["id"] for row in rows] == [str(at) for at in range(70)]
    assert rows[7]["body"] == 'word1x1x0 "quoted"\nword1x1x1'
    assert rows[7]["suggestions"].split("; ")[0] == "label 1-1"
    assert rows[7]["suggestion_texts"].split("; ")[0] == "About 1-1"
    assert float(rows[7]["scores"].split("; ")[0]) > 0.3
    long = list(csv.DictReader(saved(page, "csv, a row for each suggestion").splitlines()))
    assert len(long) == 140
    assert (long[14]["text"], long[14]["rank"], long[14]["label"]) == ("7", "1", "label 1-1")


def test_json_lines_get_their_suggestions(page: Any) -> None:
    lines = [{"text": f"topic{at} word{at}x2x1", "own": [at]} for at in range(3)]
    work = give(page, "works.jsonl", "\n".join(map(json.dumps, lines)))
    run(work)
    found = [json.loads(line) for line in saved(page, "JSON lines").splitlines()]
    assert [one["own"] for one in found] == [[0], [1], [2]]
    assert found[2]["suggestions"][0]["label"] == "label 2-2"
    assert work.locator(".chip", has_text="About 2-2").count() == 1


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("a.tsv", "text\tn\none\t1\ntwo\t2\n", ["one", "two"]),
        ("a.csv", '\ufefftext;n\n one ;1\n"t;wo";2\n', [" one ", "t;wo"]),
        ("a.txt", "one\n\n two\r\nthree", ["one", " two", "three"]),
        ("a.json", '["one", {"text": "two"}]', ["one", "two"]),
        ("a.ndjson", '{"title": "one", "body": null}\n{"title": "x", "body": "two"}', ["one", "x\ntwo"]),
    ],
)
def test_forms_of_files(page: Any, name: str, content: str, texts: list[str]) -> None:
    with page.expect_request("**/v1/suggest") as asked:
        run(give(page, name, content))
    assert asked.value.post_data_json["texts"] == texts


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '{"text": "x"}\n{"text', "a.jsonl: line 2 is not JSON"),
        ("a.csv", "text\n", "has no texts"),
        ("a.csv", "text,n\nx,1\ny,2,3\n", "a.csv: row 3 has 3 values"),
        ("a.txt", "a\0b", "is no text file"),
    ],
)
def test_files_that_cannot_be_read(page: Any, name: str, content: str, said: str) -> None:
    page.click("#tab-batch")
    page.set_input_files("#batch-file", files=[{"name": name, "mimeType": "", "buffer": content.encode()}])
    page.locator(".message", has_text=said).wait_for()


def test_columns_are_chosen(page: Any) -> None:
    work = give(page, "works.csv", table(3))
    work.get_by_label("title").uncheck()
    assert "first" not in work.locator("tbody").inner_text()
    work.get_by_label("body").uncheck()
    assert work.get_by_role("button", name="Suggest labels for all").is_disabled()


def test_a_busy_service_is_asked_again(page: Any, watched: Watched) -> None:
    """A proxy in between refuses the first three requests."""
    refused: list[Any] = []

    def proxy(route: Any) -> None:
        if len(refused) < 3:
            refused.append(route.request.post_data_json["texts"])
            route.fulfill(status=429, headers={"Retry-After": "0.05"}, json={"detail": "too many requests"})
        else:
            route.continue_()

    page.route("**/v1/suggest", proxy)
    work = give(page, "works.csv", table(100))
    run(work)
    assert len(refused) == 3
    assert len(saved(page, "JSON lines").splitlines()) == 100
    watched.troubles.clear()


def test_cancel_and_go_on(page: Any) -> None:
    held: list[Any] = []
    page.route("**/v1/suggest", lambda route: held.append(route) if len(held) < 2 else route.continue_())
    work = give(page, "works.csv", table(100))
    work.get_by_role("button", name="Suggest labels for all").click()
    page.wait_for_function("() => document.querySelector('.batch-work button.primary').disabled")
    work.get_by_role("button", name="Cancel").click()
    work.get_by_text("Stopped after 0 texts").wait_for()
    page.unroute("**/v1/suggest")
    run(work)
    assert len(saved(page, "JSON lines").splitlines()) == 100


def test_a_problem_in_between_keeps_what_is_there(page: Any, watched: Watched) -> None:
    asked: list[Any] = []

    def proxy(route: Any) -> None:
        asked.append(route)
        route.fulfill(status=500, json={"detail": "it is in the log"}) if len(asked) == 3 else route.continue_()

    page.route("**/v1/suggest", proxy)
    work = give(page, "works.csv", table(200))
    work.get_by_role("button", name="Suggest labels for all").click()
    page.locator(".message", has_text="Something went wrong in the service").wait_for()
    work.get_by_role("button", name="Go on").wait_for()
    assert 0 < len(saved(page, "JSON lines").splitlines()) < 200
    page.get_by_role("button", name="Try again").click()
    work.get_by_text("Done: 200 texts").wait_for()
    assert len(saved(page, "JSON lines").splitlines()) == 200
    watched.troubles.clear()


def test_a_table_dropped_on_the_text_opens_here(page: Any) -> None:
    page.set_input_files("#text-file", files=[{"name": "works.csv", "mimeType": "", "buffer": table(5).encode()}])
    page.locator(".batch-work h2", has_text="works.csv").wait_for()
    assert page.locator("#batch").is_visible()
    assert titles(page) == []

"""A report in a browser: it unpacks, sorts and searches its labels, and asks for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import treetop
from browser_watch import Watched
from shell import write_jsonl
from treetop.apps.comparing import Wanted
from treetop.apps.report.writing import Files, write_report
from treetop.data import Dataset
from treetop.runtime import Runtime


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, toy_train: Dataset, toy_test: Dataset) -> Path:
    """One model, and five."""
    home = tmp_path_factory.mktemp("pages")
    write_jsonl(home / "test.jsonl", toy_test)
    models = []
    for texts in (250, 40, 60, 80, 100):
        models.append(home / f"of-{texts}")
        model = treetop.XRLinear(tree={"max_leaf": 8}).fit(toy_train.take(range(texts)))
        model.calibrate(toy_train.take(range(250, 400))).save(models[-1])
    wanted, runtime = Wanted(home / "test.jsonl"), Runtime(threads=1)
    write_report(models[:1], wanted, Files(home / "one.html"), runtime)
    write_report(models, wanted, Files(home / "five.html"), runtime)
    return home


def opened(watched: Watched, page: Path) -> None:
    watched.page.goto(page.as_uri())
    watched.page.wait_for_selector("#labels[aria-busy=false]")


def column(watched: Watched, place: int) -> list[str]:
    found: list[str] = watched.page.locator(f"#labels tbody tr > :nth-child({place})").all_inner_texts()
    return found


def test_a_page_asks_for_nothing_but_itself(watched: Watched, pages: Path) -> None:
    opened(watched, pages / "one.html")
    assert watched.asked == [(pages / "one.html").as_uri()]
    watched.page.evaluate("fetch('http://treetop.invalid/').catch(() => 0)")
    assert any("Content Security Policy" in trouble for trouble in watched.troubles)  # it could not if it wanted to
    watched.troubles.clear()
    watched.asked[:] = [address for address in watched.asked if "treetop.invalid" not in address]


def test_the_table_of_labels_sorts(watched: Watched, pages: Path) -> None:
    opened(watched, pages / "one.html")
    texts = [int(number) for number in column(watched, 3)]
    assert texts == sorted(texts, reverse=True)
    watched.page.click("#labels th[data-column=label] button")
    names = column(watched, 1)
    assert names == sorted(names)
    assert watched.page.get_attribute("#labels th[data-column=label]", "aria-sort") == "ascending"
    watched.page.click("#labels th[data-column=recall] button")
    recall = [float(number) for number in column(watched, 6) if number != "–"]
    assert recall == sorted(recall, reverse=True)
    watched.page.focus("#labels th[data-column=recall] button")
    watched.page.keyboard.press("Enter")
    assert [float(number) for number in column(watched, 6) if number != "–"] == sorted(recall)


def test_the_table_of_labels_searches(watched: Watched, pages: Path) -> None:
    opened(watched, pages / "one.html")
    some = column(watched, 1)[0]
    watched.page.fill("#search", some.upper())
    assert some in column(watched, 1)
    assert all(some in name for name in column(watched, 1))
    watched.page.fill("#search", "nothing of the kind")
    assert column(watched, 1) == []
    assert watched.page.inner_text("#shown") == "no such label"


def test_another_model_has_other_figures(watched: Watched, pages: Path) -> None:
    opened(watched, pages / "five.html")
    before = column(watched, 4)
    watched.page.select_option("#model", label="of-40")
    assert column(watched, 4) != before
    heads = watched.page.locator("#labels thead th").all_inner_texts()
    assert [head.split()[1] for head in heads if head.startswith("F1")] == [
        "of-250", "of-40", "of-60", "of-80", "of-100",
    ]  # fmt: skip


@pytest.mark.parametrize("page", ["one.html", "five.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(watched: Watched, pages: Path, page: str, scheme: str) -> None:
    watched.page.emulate_media(color_scheme=scheme)
    watched.page.set_viewport_size({"width": 375, "height": 800})
    opened(watched, pages / page)
    assert watched.page.evaluate("document.documentElement.scrollWidth") == 375
    ground, ink = watched.page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    assert (brightness(ground) > brightness(ink)) == (scheme == "light")


def brightness(colour: str) -> int:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


def test_printing_opens_what_is_closed_and_hides_what_is_pressed(watched: Watched, pages: Path) -> None:
    opened(watched, pages / "five.html")
    watched.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    watched.page.emulate_media(media="print")
    assert watched.page.locator("details:not([open])").count() == 0
    assert not watched.page.is_visible("nav")
    assert not watched.page.is_visible("#later")
    assert watched.page.is_visible("#labels tbody tr")


def test_every_picture_and_control_has_words(watched: Watched, pages: Path) -> None:
    opened(watched, pages / "five.html")
    assert watched.page.locator("svg:not([aria-label]), svg[aria-label='']").count() == 0
    assert watched.page.locator("h1").count() == 1
    for control in watched.page.locator("input, select").all():
        assert control.evaluate("one => one.labels.length") == 1

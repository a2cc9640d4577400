from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from treetop.apps.look_page import show_look
from treetop.apps.looking import look_at


def page(folder: Path, width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    show_look(look_at(folder, "train"), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_the_page_fits_and_says_what_matters(tmp_path: Path, width: int) -> None:
    rows = [{"text": f"<b>text</b> {n % 30}", "labels": ["[all]", f"label {n % 7}"]} for n in range(40)]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "test.jsonl").write_text(json.dumps(rows[0]))
    shown = page(tmp_path, width)
    assert max(map(len, shown.splitlines())) <= width
    for expected in (
        "train.jsonl (train)",
        "10 (25.0 %)",  # duplicates
        "████████████████████",
        "most frequent labels",
        "[all]",  # no markup of the terminal
        "<b>text</b> 0",
        "other splits, beside train",
        "! test shares texts with train",
        "! label '[all]' is on 100 % of the texts",
        "! about 100 % of the texts hold HTML",
    ):
        assert expected in " ".join(shown.split()), expected


def test_nothing_odd_is_said_too(tmp_path: Path) -> None:
    rows = [{"text": f"text {n}", "labels": [f"label {n % 7}"]} for n in range(40)]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert page(tmp_path, 80).rstrip().endswith("nothing looks odd")


def test_whose_release_it_is_and_of_which_benchmark(tmp_path: Path) -> None:
    release = page(Path(__file__).parents[1] / "fixtures" / "releases" / "x-transformer", 80)
    assert "as in releases of X-Transformer" in release
    assert "labels have texts of their own" in release
    assert "by its sizes" not in release
    rows = ({"text": f"text {n}", "labels": [f"l{n % 3956}"]} for n in range(15_449))
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    shown = page(tmp_path, 80)
    assert "eurlex-4k, by its sizes" in shown
    assert "as in releases" not in shown

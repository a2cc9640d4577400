"""`treetop report`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shell import complain, run


def test_a_page_with_its_figures_beside_it(model: Path, folder: Path, tmp_path: Path) -> None:
    page, figures, labels = (tmp_path / name for name in ("page.html", "figures.json", "labels.csv"))
    done = run("report", model, "--data", folder, "--out", page, "--json", figures, "--labels-csv", labels)
    assert done.returncode == 0, done.stderr
    assert "page.html: 0.0" in done.stderr
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(figures.read_text())["metrics"]["p@1"]["values"]["model"] > 0.3
    assert labels.read_text().count("\n") > 20


def test_mistakes(
    model: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    ask: list[str | Path] = ["report", model, "--quiet", "--out", page, "--data"]
    assert "dev" in complain([*ask, folder, "--split", "dev"], monkeypatch, capfd)
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"text": "topic1"}\n')
    assert "label" in complain([*ask, bare], monkeypatch, capfd)
    assert "no such model folder" in complain(["report", tmp_path / "none", *ask[2:], folder], monkeypatch, capfd)
    assert [path.name for path in tmp_path.iterdir()] == ["bare.jsonl"]

"""`treetop compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shell import complain, run


def test_a_model_and_its_saved_predictions_are_the_same(model: Path, folder: Path, tmp_path: Path) -> None:
    saved, figures = tmp_path / "saved.trec", tmp_path / "figures.json"
    assert run("predict", model, folder / "test.jsonl", "-k", "10", "--out", saved).returncode == 0
    done = run("compare", model, saved, "--data", folder, "--json", figures)
    assert done.returncode == 0, done.stderr
    assert "model is best, but not beyond chance: saved.trec" in done.stdout
    found = json.loads(figures.read_text())
    values = found["metrics"]["p@5"]["values"]
    assert values["model"] == values["saved.trec"] > 0.3
    assert found["texts"] == 120


def test_mistakes(
    model: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.json"
    ask: list[str | Path] = ["compare", model, "--json", figures, "--data", folder]
    assert "dev" in complain([*ask, "--split", "dev"], monkeypatch, capfd)
    assert "there is no metric 'x@1'" in complain([*ask, "--metrics", "x@1"], monkeypatch, capfd)
    assert "no such model folder" in complain([*ask, tmp_path / "none"], monkeypatch, capfd)
    assert not figures.exists()

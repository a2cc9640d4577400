"""`treetop explain`: a page in the terminal, or JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shell import complain, run
from treetop.methods import load

TEXT = "topic0 word0x1x1 word0x1x2 noise3"


def test_a_page_tells_words_path_and_what_to_remove(model: Path) -> None:
    done = run("explain", model, "--text", TEXT, "--label", "label 0-1", COLUMNS="120")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for part in ("label 0-1", "suggestion 1, by xr-linear", TEXT, "each word adds", "(margin)", "how it was", "ithout"):
        assert part in done.stdout


def test_json_is_the_explanation(model: Path) -> None:
    done = run("explain", model, "--text", "-", "--json", stdin=TEXT)
    assert json.loads(done.stdout) == load(model).explain(TEXT).to_dict()


def test_training_texts_are_kept_if_asked(folder: Path, tmp_path: Path) -> None:
    done = run(
        "train", "--method", "xr-linear", "--data", folder, "--out", tmp_path / "m", "--keep-texts", "--no-evaluate"
    )
    assert done.returncode == 0, done.stderr
    assert "400 texts are kept for `treetop explain`: 0." in done.stderr
    page = run("explain", tmp_path / "m", "--text", TEXT, COLUMNS="120").stdout
    assert "training texts with this label" in page
    assert "both have: " in page
    assert run("inspect", tmp_path / "m", "--verify").returncode == 0


def test_mistakes(model: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    ask: list[str | Path] = ["explain", model, "--text"]
    assert "the text is empty" in complain([*ask, ""], monkeypatch, capfd)
    assert "the model knows no word of the text 'xyzzy'" in complain([*ask, "xyzzy"], monkeypatch, capfd)
    assert "did you mean" in complain([*ask, TEXT, "--label", "label 0_1"], monkeypatch, capfd)
    assert "only a calibrated model" in complain([*ask, TEXT, "--threshold", "f1"], monkeypatch, capfd)

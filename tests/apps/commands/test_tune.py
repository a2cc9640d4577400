"""`treetop tune`, and `treetop train` that chooses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from shell import complain, run

BRIEF = ("--trials", "5", "--threads", "1")


@pytest.mark.parametrize("out", [".", "/", ".."])
def test_a_folder_is_no_place_for_a_recipe(
    out: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "within").mkdir()
    monkeypatch.chdir(tmp_path / "within")
    said = complain(["tune", "--data", folder, "--out", out, *BRIEF], monkeypatch, capfd)
    assert "is a folder; give the name of a file" in said
    assert [path.name for path in tmp_path.rglob("*")] == ["within"]


def test_a_recipe_that_trains(folder: Path, tmp_path: Path) -> None:
    done = run("tune", "--data", folder, "--out", tmp_path / "r.toml", *BRIEF)
    assert done.returncode == 0, done.stderr
    assert "what mattered" in done.stdout
    assert "chosen: " in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.toml"]
    assert "held-out texts: 9 trainings" in (tmp_path / "r.toml").read_text()  # three, and two on three more folds
    trained = run("train", "--data", folder, "--config", tmp_path / "r.toml", "--out", tmp_path / "m", "--quiet")
    assert trained.returncode == 0, trained.stderr
    again = run("train", "--data", folder, "--out", tmp_path / "a", "--method", "auto", *BRIEF)
    assert again.returncode == 0, again.stderr
    assert "chosen: " in again.stderr
    cards = [json.loads((tmp_path / name / "model.json").read_text()) for name in ("m", "a")]
    assert cards[0]["config"] == cards[1]["config"]
    assert cards[1]["training"]["texts"] == 400


def test_few_texts_are_trained_by_the_default(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "train.jsonl").read_text().splitlines(keepends=True)[:150]
    (tmp_path / "few.jsonl").write_text("".join(lines))
    done = run("train", "--data", tmp_path / "few.jsonl", "--out", tmp_path / "m")
    assert done.returncode == 0, done.stderr
    assert "150 texts are too few to choose settings on" in done.stderr


WITHOUT_TORCH = """
import json, sys
for absent in ("torch", "transformers", "tokenizers"):
    sys.modules[absent] = None  # an import of it fails
from treetop.apps.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["treetop", *arguments]
    try:
        main()
    except SystemExit as end:
        print(end.code)
"""


def test_an_extra_that_is_missing_is_said_before_the_search(folder: Path, tmp_path: Path) -> None:
    given = ["--data", str(folder), "--out", str(tmp_path / "x")]
    calls = [["tune", *given, "--encoder", "minilm"], ["train", *given, "--method", "xr-transformer"]]
    command = [sys.executable, "-c", WITHOUT_TORCH, json.dumps(calls)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["2", "2"], done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 2
    assert all("pip install 'treetop-xmc[neural]'" in line for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_mistakes_are_one_clear_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def said(command: str, *arguments: str | Path) -> str:
        fixed: list[str | Path] = [command, "--data", folder, "--out", tmp_path / "x"]
        return complain([*fixed, *arguments], monkeypatch, capfd)

    assert "there is no metric 'best@1'" in said("tune", "--metrics", "best@1")
    assert "give a time above zero" in said("tune", "--budget", "soon")
    assert "at least one" in said("tune", "--trials", "0")
    assert "leaves no model" in said("tune", "--most-mb", "0")
    assert "are kept by linear models only" in said("tune", "--most-ms", "1", "--encoder", "minilm")
    assert "there is no metric 'best@1'" in said("train", "--metrics", "best@1")
    assert "are for --method auto" in said("train", "--preset", "accurate", "--metrics", "p@1")
    assert "the budget ended before the first trial" in said("tune", "--budget", "0.000001")
    assert "chooses settings itself" in said("train", "--method", "auto", "--set", "trees=3")
    assert "are for --method auto" in said("train", "--preset", "accurate", "--budget", "60")
    assert "nothing to resume" in said("train", "--resume")
    (tmp_path / "x.trials").write_text("{}\n")
    assert "go on with --resume, or remove it" in said("tune", *BRIEF)
    assert not (tmp_path / "x").exists()

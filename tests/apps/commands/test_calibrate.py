"""`treetop calibrate`, and calibration by `treetop train`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from shell import complain, run
from treetop.methods import load


def test_an_older_model_learns_it(model: Path, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "m")
    done = run("calibrate", tmp_path / "m", "--data", folder, "--split", "test")
    assert done.returncode == 0, done.stderr
    assert "calibrated on 120 texts: scores are probabilities" in " ".join(done.stderr.split())
    assert load(tmp_path / "m").predict(["word0x1x1"], threshold="f1").kind == "probability"
    assert run("inspect", tmp_path / "m", "--verify").returncode == 0
    out = tmp_path / "figures.json"
    asked = ("--threshold", "precision:0.9", "--json", out)
    assert run("evaluate", tmp_path / "m", "--data", folder, *asked).returncode == 0
    found = json.loads(out.read_text())
    assert found["threshold_aim"] == "precision:0.9"
    assert found["threshold/precision"] >= 0.9
    assert found["calibration/ece@10"] < 0.03
    lines = run("predict", tmp_path / "m", folder / "test.jsonl", "--threshold", "f1").stdout.splitlines()
    assert min(score for line in lines for score in json.loads(line)["scores"]) >= 0.1


def test_mistakes(
    model: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ask: list[str | Path] = ["calibrate", model, "--out", tmp_path / "m", "--data"]
    assert "400 of the 400 texts are among those" in complain([*ask, folder, "--split", "train"], monkeypatch, capfd)
    (tmp_path / "few.jsonl").write_text('{"text": "word0x1x1", "labels": ["label 0-1"]}\n')
    assert "1 held-out texts are too few" in complain([*ask, tmp_path / "few.jsonl"], monkeypatch, capfd)
    assert not (tmp_path / "m").exists()
    said = complain(["predict", model, folder / "test.jsonl", "--threshold", "f1"], monkeypatch, capfd)
    assert "only a calibrated model can find" in said


def test_training_calibrates_on_dev_texts(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(folder, data)
    (data / "test.jsonl").rename(data / "dev.jsonl")
    done = run("train", "--data", data, "--out", tmp_path / "m")
    assert done.returncode == 0, done.stderr
    assert "calibrated on 120 texts" in done.stderr
    assert "expected calibration error" not in done.stdout  # on the texts it was calibrated on that is no result
    assert load(tmp_path / "m").calibration is not None
    assert run("train", "--data", data, "--out", tmp_path / "n", "--no-calibration", "-q").returncode == 0
    assert load(tmp_path / "n").calibration is None


def test_training_calibrates_on_texts_held_out_if_asked(folder: Path, tmp_path: Path) -> None:
    done = run("train", "--data", folder, "--out", tmp_path / "m", "--calibration")
    assert done.returncode == 0, done.stderr
    assert "calibrated on 120 texts" in done.stderr
    assert "probabilities: expected calibration error" in done.stdout
    assert json.loads((tmp_path / "m" / "model.json").read_text())["training"]["texts"] == 400

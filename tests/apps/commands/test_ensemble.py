"""`treetop ensemble`."""

from __future__ import annotations

import json
from pathlib import Path

from shell import run


def test_models_vote(folder: Path, model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert run("train", "--data", folder, "--method", "one-vs-all", "--out", other, "-q").returncode == 0
    done = run("ensemble", model, other, "--out", tmp_path / "both", "--weights", "2,1")
    assert done.returncode == 0, done.stderr
    assert f"rank_average of {model} × 2, {other} × 1" in done.stderr.replace("\n", "")
    assert json.loads((tmp_path / "both" / "model.json").read_text())["config"]["weights"] == [2.0, 1.0]
    done = run("ensemble", model, other, "--out", tmp_path / "best", "--data", folder, "--split", "test")
    assert done.returncode == 0, done.stderr
    assert "calibrated on 120 texts: scores are probabilities" in " ".join(done.stderr.split())
    assert run("evaluate", tmp_path / "best", "--data", folder, "-q", "--threshold", "f1").returncode == 0
    done = run("ensemble", model, model, "--out", tmp_path / "twice")
    assert f"average of {model}" in done.stderr.replace("\n", "")
    assert "rank_average" not in done.stderr
    done = run("ensemble", model, other, "--out", other)
    assert done.returncode == 2
    assert "one of the members" in done.stderr
    done = run("ensemble", model, other, "--out", tmp_path / "none", "--weights", "a,b")
    assert done.returncode == 2
    assert "as 2,1,1" in done.stderr
    done = run("ensemble", model, "--out", tmp_path / "none", "--data", folder, "--fuser", "average")
    assert done.returncode == 2
    assert "leave out --fuser" in done.stderr
    assert not (tmp_path / "none").exists()
    done = run("ensemble", model, "--out", tmp_path / "none", "--fuser", "mean")
    assert done.returncode == 2
    assert "rank_average" in done.stderr

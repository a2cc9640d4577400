"""`treetop evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shell import complain, run
from treetop.apps.writers import WRITERS


def figures(path: Path, *arguments: str | Path) -> dict[str, Any]:
    done = run("evaluate", *arguments, "--json", path)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_evaluate_for_people_and_for_programs(model: Path, folder: Path, tmp_path: Path) -> None:
    done = run("evaluate", model, "--data", folder, "--threshold", "0.5", "--json", tmp_path / "figures.json")
    assert done.returncode == 0, done.stderr
    assert "ndcg" in done.stdout
    assert "labels with a score of at least 0.5" in done.stdout
    found = json.loads((tmp_path / "figures.json").read_text())
    assert found["p@1"] > 0.9
    assert {"p@1", "psp@5", "ndcg@5", "rp@5", "texts", "threshold/precision", "head/found@5"} <= found.keys()
    assert found["threshold/microf1"] > 0.9
    assert found["seen_in_training"] == 0
    assert "seen in training" not in done.stderr


def test_texts_that_were_trained_on_cannot_be_overlooked(model: Path, folder: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.jsonl"
    lines = [(folder / f"{split}.jsonl").read_text().splitlines() for split in ("train", "test")]
    mixed.write_text("\n".join([*lines[0][:30], *lines[1][:90]]).replace("topic", "TOPIC") + "\n")
    done = run("evaluate", model, "--data", mixed, "--json", tmp_path / "figures.json")
    assert done.returncode == 0, done.stderr
    assert "seen in training" in done.stderr
    assert "25.0 % of these texts" in done.stderr
    assert json.loads((tmp_path / "figures.json").read_text())["seen_in_training"] == 0.25


def test_a_few_copies_of_training_texts_are_told_in_a_line(model: Path, folder: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.jsonl"
    copy, *_ = (folder / "train.jsonl").read_text().splitlines()
    test = (folder / "test.jsonl").read_text().splitlines()
    mixed.write_text("\n".join([copy, *test * 2]) + "\n")
    done = run("evaluate", model, "--data", mixed)
    assert done.returncode == 0, done.stderr
    assert "a few of these texts (1) are copies of training texts" in done.stderr
    assert "what it remembers" not in done.stderr


def test_predictions_of_a_file_have_the_figures_of_the_model(model: Path, folder: Path, tmp_path: Path) -> None:
    metrics = ["--metrics", "p@1,p@3,r@10,ndcg@5,macrof1@5"]
    right = figures(tmp_path / "right.json", model, "--data", folder, *metrics)
    files = {ending: tmp_path / f"x{ending}" for ending in WRITERS}
    for path in files.values():
        assert run("predict", model, folder / "test.jsonl", "-k", "10", "--out", path).returncode == 0
    for path in (files[".csv"], files[".trec"]):
        found = figures(tmp_path / "found.json", "--data", folder, "--predictions", path, *metrics)
        facts = {"texts", "calibration/ece@10", "calibration/brier@10"}
        assert [one["size"] for one in found.pop("reliability")] == [one["size"] for one in right["reliability"]]
        assert found == pytest.approx(  # a file holds six digits of a score
            {name: value for name, value in right.items() if name in facts or ("@" in name and "/" not in name)}
        )
    lent = figures(tmp_path / "lent.json", model, "--data", folder, "--predictions", files[".npz"], *metrics)
    assert lent == {name: value for name, value in right.items() if name != "predict_seconds"}


def test_mistakes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ask: list[str | Path] = ["evaluate", "--data", folder]
    assert "nothing to measure" in complain(ask, monkeypatch, capfd)
    assert "no such file" in complain([*ask, "--predictions", tmp_path / "x.csv"], monkeypatch, capfd)
    (tmp_path / "x.csv").write_text("text,label,score\n0,a,1\n")
    said = complain([*ask, "--predictions", tmp_path / "x.csv", "--benchmark", "amazon-670k"], monkeypatch, capfd)
    assert "the training texts are not known" in said

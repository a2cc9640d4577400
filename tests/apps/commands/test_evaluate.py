"""`treetop evaluate`."""

from __future__ import annotations

import json
from pathlib import Path

from shell import run


def test_evaluate_for_people_and_for_programs(model: Path, folder: Path, tmp_path: Path) -> None:
    done = run("evaluate", model, "--data", folder, "--json", tmp_path / "figures.json")
    assert done.returncode == 0, done.stderr
    assert "ndcg" in done.stdout
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["p@1"] > 0.9
    assert {"p@1", "psp@5", "ndcg@5", "rp@5", "texts"} <= figures.keys()
    assert figures["seen_in_training"] == 0
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

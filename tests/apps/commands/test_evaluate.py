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

"""`treetop predict`."""

from __future__ import annotations

import json
from pathlib import Path

from shell import run


def test_predict_a_file_and_a_stream(model: Path, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = run("predict", model, folder / "test.jsonl", "--k", "3", "--out", out)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 120
    assert rows[0]["id"] == "t0"
    assert len(rows[0]["labels"]) == len(rows[0]["scores"]) == 3
    first_text = json.loads((folder / "test.jsonl").read_text().splitlines()[0])["text"]
    done = run("predict", model, "-", "--k", "3", stdin=f"{first_text}\n\n")
    assert done.returncode == 0, done.stderr
    streamed = [json.loads(line) for line in done.stdout.splitlines()]
    assert streamed[0]["labels"] == rows[0]["labels"]

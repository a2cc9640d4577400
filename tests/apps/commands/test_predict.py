"""`treetop predict`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from shell import complain, run
from treetop.methods import load


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
    assert run("predict", model, "-", "-q", "--k", "3", stdin=f"{first_text}\n\n").stdout == done.stdout
    streamed = [json.loads(line) for line in done.stdout.splitlines()]
    assert streamed[0]["labels"] == rows[0]["labels"]


def test_a_table_of_chosen_labels(model: Path, folder: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("label 0-1\n\nlabel 2-3\n")
    options: list[str | Path] = ["--threshold", "0.001", "--only", "label 1-1", "--labels-file", names]
    options += ["--beam", "50", "--chunk", "50"]
    done = run("predict", model, folder / "test.jsonl", *options, "--out", tmp_path / "x.csv")
    assert done.returncode == 0, done.stderr
    texts = [json.loads(line)["text"] for line in (folder / "test.jsonl").read_text().splitlines()]
    wanted = ["label 0-1", "label 2-3", "label 1-1"]
    expected = load(model).predict(texts, 5, threshold=0.001, labels=wanted, beam=50).to_frame()
    found = pl.read_csv(tmp_path / "x.csv")
    assert found["text"].to_list() == expected["text"].to_list()  # counted through over all chunks
    assert found["label"].to_list() == expected["label"].to_list()
    assert found["id"].to_list() == [f"t{text}" for text in expected["text"]]
    assert 0 < len(found) < 3 * len(texts)


def test_what_cannot_be_done_is_said_before_anything_is_written(
    model: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ask: list[str | Path] = ["predict", model, folder / "test.jsonl", "--out"]
    (tmp_path / "empty.txt").write_text("\n")
    refused: list[tuple[list[str | Path], str]] = [
        (["x.xlsx"], "choose one of .jsonl, .csv, .tsv, .parquet, .trec, .npz"),
        (["x.csv", "--only", "lable 0-1"], "did you mean 'label 0-1'"),
        (["x.csv", "--labels-file", tmp_path / "nowhere.txt"], "no such file"),
        (["x.csv", "--labels-file", tmp_path / "empty.txt"], "names no label"),
        (["x.csv", "--beam", "0"], "beam is 0"),
        (["x.csv", "--threshold", "nan"], "threshold is NaN"),
    ]
    for options, message in refused:
        assert message in complain([*ask, tmp_path / str(options[0]), *options[1:]], monkeypatch, capfd)
    assert [path.name for path in tmp_path.iterdir()] == ["empty.txt"]

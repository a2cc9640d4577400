"""`treetop split`."""

from __future__ import annotations

from pathlib import Path

from shell import run
from treetop.data import read
from treetop.data.columns import read_columns


def test_split_writes_a_folder_that_train_measures_on(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "parts"
    done = run("split", folder / "train.jsonl", "--out", out, "--test", "0.2", "--dev", "0", "--seed", "5")
    assert done.returncode == 0, done.stderr
    assert "320 train, 80 test texts" in " ".join(done.stderr.split())
    assert len(read(out, split="test")) == 80
    assert read_columns(out)[0]["id"].startswith("t")
    trained = run("train", "--data", out, "--method", "xr-linear", "--out", tmp_path / "m")
    assert trained.returncode == 0, trained.stderr
    assert "80 test texts, in per cent" in trained.stdout
    assert "seen in training" not in trained.stderr
    again = run("split", folder / "train.jsonl", "--out", out)
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_by_a_column(tmp_path: Path) -> None:
    rows = [f"text {row},x|y,{2000 + row}" for row in range(50)]
    (tmp_path / "dated.csv").write_text("\n".join(["body,tags,year", *rows]) + "\n")
    arguments = ("--text", "body", "--labels", "tags", "--by-time", "year", "--out", tmp_path / "parts", "--gzip")
    done = run("split", tmp_path / "dated.csv", *arguments)
    assert done.returncode == 0, done.stderr
    assert [row["year"] for row in read_columns(tmp_path / "parts", split="test")] == [
        str(y) for y in range(2045, 2050)
    ]
    assert (tmp_path / "parts" / "dev.jsonl.gz").exists()
    refused = run("split", tmp_path / "dated.csv", *arguments[:4], "--group", "autor", "--out", tmp_path / "other")
    assert refused.returncode == 2
    assert "no column 'autor'; there are: year" in refused.stderr
    assert not (tmp_path / "other").exists()

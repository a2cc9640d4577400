"""A messy export, from the first look to a trained model."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from shell import run
from treetop.data.demo import demo_corpus


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Title and body in windows-1252, tags with commas and spaces, NaN, duplicates, HTML."""
    train, _ = demo_corpus()
    names = train.space.names
    rows = []
    for row in range(1500):
        title, _, body = train.corpus.texts[row].partition(". ")
        tags = [names[label] for label in train.labels[[row]].indices.tolist() if ", " not in names[label]]
        html = f"<p>{body} – “it’s” a caf&eacute;</p>" if row % 3 == 0 else body
        rows.append([row, "NaN" if row % 50 == 0 else title, html, "NaN" if row % 40 == 0 else ", ".join(tags)])
    path = tmp_path_factory.mktemp("export") / "export.csv"
    with path.open("w", newline="", encoding="cp1252", errors="replace") as file:
        csv.writer(file).writerows([["id", "title", "body", "tags"], *rows, *rows[:100]])
    return path


def test_a_messy_export_is_looked_at(export: Path, tmp_path: Path) -> None:
    done = run("look", export, "--text", "title,body", "--labels", "tags", "--json", tmp_path / "facts.json")
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    for expected in ("texts 1,600", "labels split at ','", "encoding windows-1252", "label cells say NaN", "hold HTML"):
        assert expected in shown, expected
    facts = json.loads((tmp_path / "facts.json").read_text(encoding="utf-8"))["findings"]
    assert facts["duplicates"] >= 100
    assert facts["null_texts"] == 32
    assert facts["null_labels"] == 41


def test_a_messy_export_is_trained_on_and_predicted(export: Path, tmp_path: Path) -> None:
    wanted = ("--text", "title,body", "--strip-html")
    done = run("train", "--method", "xr-linear", "--data", export, *wanted, "--labels", "tags", "--out", tmp_path / "m")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "export.csv: 1,600 texts;" in said
    assert "labels split at ','" in said
    assert "read as windows-1252" in said
    assert "HTML" not in said
    done = run("predict", tmp_path / "m", export, *wanted, "-k", "2")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1600


def test_quiet_shows_nothing_and_mistakes_are_one_line(export: Path) -> None:
    done = run("look", export, "--text", "title,body", "--labels", "tags", "--quiet")
    assert (done.returncode, done.stdout) == (0, "")
    done = run("look", export, "--text", "title,text", "--labels", "tags")
    assert done.returncode == 2
    assert "no column 'text'; there are: id, title, body, tags" in done.stderr
    done = run("look", export, "--encoding", "klingon")
    assert "there is no encoding called 'klingon'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1

"""`treetop calibrate`, and calibration by `treetop train`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from named import KNOWN, NAMES, named_texts
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
    done = run("train", "--method", "xr-linear", "--data", data, "--out", tmp_path / "m")
    assert done.returncode == 0, done.stderr
    assert "calibrated on 120 texts" in done.stderr
    assert "expected calibration error" not in done.stdout  # on the texts it was calibrated on that is no result
    assert load(tmp_path / "m").calibration is not None
    assert (
        run(
            "train", "--method", "xr-linear", "--data", data, "--out", tmp_path / "n", "--no-calibration", "-q"
        ).returncode
        == 0
    )
    assert load(tmp_path / "n").calibration is None


def test_training_calibrates_on_texts_held_out_if_asked(folder: Path, tmp_path: Path) -> None:
    done = run("train", "--method", "xr-linear", "--data", folder, "--out", tmp_path / "m", "--calibration")
    assert done.returncode == 0, done.stderr
    assert "calibrated on 120 texts" in done.stderr
    assert "probabilities: expected calibration error" in done.stdout
    assert json.loads((tmp_path / "m" / "model.json").read_text())["training"]["texts"] == 400


def write_named(folder: Path) -> None:
    """Texts that say their labels' names, dev texts, and a file of all labels."""
    folder.mkdir()
    for split, texts, names in (("train", 150, KNOWN), ("dev", 300, NAMES), ("test", 200, NAMES)):
        data = named_texts(texts, len(split), names)
        rows = [
            {"text": text, "labels": [data.space.names[label] for label in data.labels[[row]].indices.tolist()]}
            for row, text in enumerate(data.corpus.texts)
        ]
        (folder / f"{split}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "all.txt").write_text("".join(f"{name}\t{name.replace('_', ' ')}\n" for name in NAMES))


def test_labels_known_by_name_are_suggested_and_marked(tmp_path: Path) -> None:
    data, model = tmp_path / "data", tmp_path / "m"
    write_named(data)
    done = run("train", "--method", "xr-linear", "--data", data, "--out", model, "--labels-file", data / "all.txt")
    assert done.returncode == 0, done.stderr
    assert "label names found in texts count: they moved the mean of P@1, P@3 and P@5 from" in done.stderr
    assert "12 labels without training texts can be suggested" in done.stderr
    assert "calibrated on 300 texts" in done.stderr
    assert "are among the ten best" in done.stdout
    said = run("predict", model, data / "test.jsonl", "--k", "3")
    rows = [json.loads(line) for line in said.stdout.splitlines()]
    assert sum(bool(row["unseen"]) for row in rows) > 20
    assert all(row["unseen"] == [label for label in row["labels"] if label not in KNOWN] for row in rows)
    assert run("predict", model, data / "test.jsonl", "--out", tmp_path / "f.csv").returncode == 0
    assert (tmp_path / "f.csv").read_text().splitlines()[0] == "text,id,rank,label,score,unseen"
    assert "label names" in run("inspect", model).stdout
    figures = tmp_path / "figures.json"
    assert run("evaluate", model, "--data", data, "--json", figures).returncode == 0
    assert json.loads(figures.read_text())["unseen_found@10"] > 0.9


def test_names_are_left_out_or_learned_later(tmp_path: Path) -> None:
    data, model = tmp_path / "data", tmp_path / "m"
    write_named(data)
    assert run("train", "--method", "xr-linear", "--data", data, "--out", model, "--no-names", "-q").returncode == 0
    assert load(model).naming is None
    done = run("calibrate", model, "--data", data, "--labels-file", data / "all.txt")
    assert done.returncode == 0, done.stderr
    assert "label names found in texts count" in done.stderr
    assert load(model).naming is not None


def test_a_catalogue_that_cannot_be_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    train: list[str | Path] = ["train", "--data", folder, "--out", tmp_path / "m"]
    (tmp_path / "empty.txt").write_text("\n")
    for file, problem in (("none.txt", "no such file"), ("empty.txt", "names no label")):
        assert problem in complain([*train, "--labels-file", tmp_path / file], monkeypatch, capfd)
    (tmp_path / "all.txt").write_text("a\n")
    said = complain([*train, "--labels-file", tmp_path / "all.txt", "--no-names"], monkeypatch, capfd)
    assert "--labels-file is given with --no-names" in said
    assert not (tmp_path / "m").exists()

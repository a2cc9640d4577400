"""`treetop train`."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shell import complain, run
from treetop.data import read
from treetop.data.demo import demo_corpus
from treetop.methods import load


def test_train_writes_a_card(model: Path) -> None:
    card = json.loads((model / "model.json").read_text())
    assert card["method"] == "xr-linear"
    assert card["seed"] == 3
    assert card["config"]["tree"]["max_leaf"] == 8
    assert card["training"]["wall_seconds"] > 0
    assert card["training"]["cpu_seconds"] > 0
    assert card["training"]["peak_rss_mib"] > 1


@pytest.mark.parametrize("preset", ["parabel", "bonsai", "dismec"])
def test_presets_train(preset: str, folder: Path, tmp_path: Path) -> None:
    done = run("train", "--data", folder, "--preset", preset, "--out", tmp_path / "m", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_a_config_file_and_its_precedence(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text("trees = 2\n[tree]\nmax_leaf = 12\n")
    arguments = ("--preset", "parabel", "--config", config, "--set", "tree.max_leaf=6")
    done = run("train", "--data", folder, "--out", tmp_path / "m", *arguments)
    assert done.returncode == 0, done.stderr
    card = json.loads((tmp_path / "m" / "model.json").read_text())
    assert (card["config"]["trees"], card["config"]["tree"]["max_leaf"]) == (2, 6)
    assert card["config"]["tree"]["branching"] == 2


def test_figures_are_of_held_out_texts(folder: Path, tmp_path: Path) -> None:
    arguments = ("--data", folder / "train.jsonl", "--test-share", "0.25", "--out", tmp_path / "m", "--trials", "2")
    done = run("train", *arguments)
    assert done.returncode == 0, done.stderr
    assert "100 held-out texts, in per cent" in done.stdout
    assert "300 texts" in done.stderr
    assert done.stderr.index("train.jsonl: 400 texts") < done.stderr.index("chosen: ")
    assert "seen in training" not in done.stderr
    assert json.loads((tmp_path / "m" / "model.json").read_text())["training"]["texts"] == 300
    refused = run("train", "--data", folder, "--test-share", "0.25", "--out", tmp_path / "n")
    assert refused.returncode == 2
    assert "has test texts already" in refused.stderr
    assert not (tmp_path / "n").exists()


def test_a_messy_export_becomes_a_model_with_honest_figures(tmp_path: Path) -> None:
    """Two text columns, windows-1252, tags with commas and spaces, NaN cells, copies and HTML: no wrong turn."""
    corpus, names = demo_corpus()[0].take(range(1500)), demo_corpus()[0].space.names
    rows = [["title", "body", "tags"]]
    for row, text in enumerate(corpus.corpus.texts):
        title, _, body = text.partition("\n")
        tags = ", ".join(names[label].replace(",", "") for label in corpus.labels[[row]].indices.tolist())
        body = "NaN" if row % 50 == 7 else f"<p>“{body}”</p>" if row % 10 == 3 else body
        rows.append([title, body, "NaN" if row % 60 == 11 else tags])
    with (tmp_path / "export.csv").open("w", encoding="cp1252", errors="replace", newline="") as file:
        csv.writer(file).writerows([*rows, *rows[1:101]])
    columns = ("--text", "title,body", "--labels", "tags")
    looked = run("look", tmp_path / "export.csv", *columns)
    assert looked.returncode == 0, looked.stderr
    assert not (tmp_path / "m").exists()
    done = run(
        "train",
        "--data",
        tmp_path / "export.csv",
        *columns,
        "--test-share",
        "0.1",
        "--out",
        tmp_path / "m",
        "--trials",
        "4",
    )
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "export.csv: 1,600 texts" in said
    assert "read as windows-1252" in said
    assert "seen in training" not in said
    held_out, learned = done.stdout.split(" held-out texts")[0], json.loads((tmp_path / "m/model.json").read_text())
    assert int(held_out) + learned["training"]["texts"] == 1600
    assert 100 < int(held_out) < 220
    assert {"“", "NaN"}.isdisjoint(load(tmp_path / "m").space.names)


@pytest.mark.parametrize(("options", "measured"), [((), True), (("--no-evaluate",), False), (("--quiet",), False)])
def test_the_test_texts_of_a_folder_are_measured_at_the_end(
    options: tuple[str, ...], measured: bool, folder: Path, tmp_path: Path
) -> None:
    done = run("train", "--data", folder, "--method", "xr-linear", "--out", tmp_path / "m", *options)
    assert done.returncode == 0, done.stderr
    assert ("120 test texts, in per cent" in done.stdout) == measured
    assert measured or done.stdout == ""


def test_a_folder_that_is_not_a_model_is_not_overwritten(folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter1.txt").write_text("words")
    done = run("train", "--method", "xr-linear", "--data", folder, "--out", precious)
    assert done.returncode == 2
    assert (precious / "chapter1.txt").read_text() == "words"


def test_a_transformer_is_trained_interrupted_and_resumed(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    from tiny_methods import encoder

    out, kept = tmp_path / "m", tmp_path / "m.checkpoint"
    fixed = ("--data", folder, "--out", out, "--method", "lightxml", "--encoder", encoder().name, "--threads", "1")
    small = ("--set", "encoder.max_tokens=32", "--set", "encoder.reader=torch")  # 8 bits cannot tell its states apart
    brief = (*small, "--set", "optim.steps=6", "--set", "optim.checkpoint_every=2")
    kept.mkdir()
    (kept / "run.json").write_text('{"config.optim.lr": 0.0001, "method": "lightxml", "seed": 0}')
    refused = run("train", *fixed, *brief)
    assert refused.returncode == 2
    assert "continue it with --resume" in refused.stderr
    refused = run("train", *fixed, *brief, "--resume", "--quiet", "--set", "optim.lr=0.5")
    assert refused.returncode == 2
    assert len(refused.stderr.strip().splitlines()) == 1, refused.stderr
    assert "holds a run with" in refused.stderr
    assert kept.exists()
    (kept / "run.json").unlink()
    done = run("train", *fixed, *brief, "--resume", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]
    card = json.loads((out / "model.json").read_text())
    assert card["config"]["encoder"]["name"] == encoder().name
    assert run("predict", out, "-", stdin="topic1\n").returncode == 0


def test_several_processes_train_one_model(folder: Path, tmp_path: Path) -> None:
    """XR-Transformer trains level by level: the processes must find each other again for every one of them."""
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    from tiny_methods import encoder

    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "treetop"]
    settings = ["encoder.max_tokens=32", "optim.epochs=2", "optim.lr=6e-3", "optim.batch_size=8"]
    settings += ["coarse_tree.max_leaf=8", "coarse_tree.branching=4", "coarse_tree.top_width=1"]
    command = ["train", "--data", folder, "--out", tmp_path / "m", "--method", "xr-transformer", "--threads", "1"]
    command += ["--encoder", encoder().name, *(part for one in settings for part in ("--set", one))]
    done = subprocess.run([*torchrun, *map(str, command)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("400 texts, 42 labels") == 1  # one of them speaks
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]
    rows = [json.loads(line) for line in (tmp_path / "m" / "training.jsonl").read_text().splitlines()]
    assert {row["run"] for row in rows} == {0, 1, 2, 3}
    assert max(row["step"] for row in rows) == 2 * 50  # 400 texts by 8, which two processes share
    figures = tmp_path / "figures.json"
    assert run("evaluate", tmp_path / "m", "--data", folder, "--json", figures).returncode == 0
    assert json.loads(figures.read_text())["p@1"] > 0.9


def test_without_torch_a_transformer_is_one_line_and_exit_2(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run("train", "--data", folder, "--out", tmp_path / "m", "--method", "lightxml", PYTHONPATH=path)
    assert done.returncode == 2
    assert done.stderr.strip() == "error: torch is not installed. Install it with: pip install 'treetop-xmc[neural]'"


def test_mistakes_with_a_transformer_are_one_clear_line_and_exit_2(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    from tiny_methods import encoder
    from treetop.methods.lightxml import LightXML
    from treetop.methods.resolving import resolve
    from treetop.runtime import Runtime

    def train(name: str | Path, *more: str | Path) -> str:
        fixed: list[str | Path] = [
            "train",
            "--data",
            folder,
            "--out",
            tmp_path / "m",
            "--method",
            "lightxml",
            "--threads",
            "1",
        ]
        return complain([*fixed, "--encoder", name, "--set", "optim.steps=2", *more], monkeypatch, capfd)

    for what, pattern in (("tokenizer", "tokenizer*"), ("weights", "*.safetensors"), ("configuration", "config.json")):
        broken = shutil.copytree(encoder().name, tmp_path / what)
        for path in broken.glob(pattern):
            path.unlink()
        for quiet in ((), ("--quiet",)):
            assert f"an encoder folder without a {what}".replace("a weights", "weights") in train(broken, *quiet)
    assert "Lower optim.batch_size" in train(encoder().name, "--set", "mode=groups", "--set", "bottleneck=1000000000")
    assert "reads at most 64" in train(encoder().name, "--quiet", "--set", "encoder.max_tokens=100")
    assert "device is 'abacus'" in train(encoder().name, "--device", "abacus")
    assert "precision is 'int3'" in train(encoder().name, "--precision", "int3")
    assert not (tmp_path / "m.checkpoint").exists()  # the next attempt is not taken for a continuation

    settings = ("optim.steps=2", "encoder.max_tokens=32")
    config = resolve("lightxml", encoder=encoder().name, assignments=settings)
    LightXML(config, runtime=Runtime(threads=1), checkpoint=tmp_path / "m.checkpoint").fit(read(folder))
    again = ("--resume", "--quiet", "--set")
    assert "now it is 16" in train(encoder().name, *again, "encoder.max_tokens=16")
    (kept,) = (tmp_path / "m.checkpoint").glob("*/step-*/tensors.safetensors")
    kept.write_bytes(kept.read_bytes()[:-1000])
    assert "checkpoint is damaged or cut short" in train(encoder().name, *again, "encoder.max_tokens=32")
    assert kept.exists()

"""The command line as people use it: as a program of its own."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from treetop.apps.cli import main
from treetop.data import Dataset, read
from treetop.methods import METHODS


def run(*arguments: str | Path, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treetop", *map(str, arguments)]
    env = os.environ | environment
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False, env=env)


def write_jsonl(path: Path, dataset: Dataset) -> None:
    names = dataset.space.names
    with path.open("w", encoding="utf-8") as file:
        for row, text in enumerate(dataset.corpus.texts):
            labels = [names[label] for label in dataset.labels[[row]].indices]
            file.write(json.dumps({"id": f"t{row}", "text": text, "labels": labels}) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, toy_train: Dataset, toy_test: Dataset) -> Path:
    path = tmp_path_factory.mktemp("data")
    write_jsonl(path / "train.jsonl", toy_train)
    write_jsonl(path / "test.jsonl", toy_test)
    return path


@pytest.fixture(scope="module")
def model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model"
    done = run(
        "train", "--data", folder, "--method", "xr-linear", "--out", path, "--set", "tree.max_leaf=8", "--seed", "3"
    )
    assert done.returncode == 0, done.stderr
    assert "400 texts, 42 labels" in " ".join(done.stderr.split())
    return path


def test_models_vote(folder: Path, model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert run("train", "--data", folder, "--method", "one-vs-all", "--out", other, "-q").returncode == 0
    done = run("ensemble", model, other, "--out", tmp_path / "both", "--weights", "2,1")
    assert done.returncode == 0, done.stderr
    assert f"rank_average of {model} × 2, {other} × 1" in done.stderr.replace("\n", "")
    assert json.loads((tmp_path / "both" / "model.json").read_text())["config"]["weights"] == [2.0, 1.0]
    done = run("ensemble", model, other, "--out", tmp_path / "best", "--data", folder, "--split", "test")
    assert done.returncode == 0, done.stderr
    assert run("evaluate", tmp_path / "best", "--data", folder, "-q").returncode == 0
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


def test_train_writes_a_card(model: Path) -> None:
    card = json.loads((model / "model.json").read_text())
    assert card["method"] == "xr-linear"
    assert card["seed"] == 3
    assert card["config"]["tree"]["max_leaf"] == 8
    assert card["training"]["wall_seconds"] > 0
    assert card["training"]["cpu_seconds"] > 0
    assert card["training"]["peak_rss_mib"] > 1


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


def test_evaluate_for_people_and_for_programs(model: Path, folder: Path, tmp_path: Path) -> None:
    done = run("evaluate", model, "--data", folder, "--json", tmp_path / "figures.json")
    assert done.returncode == 0, done.stderr
    assert "ndcg" in done.stdout
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["p@1"] > 0.9
    assert {"p@1", "psp@5", "ndcg@5", "rp@5", "texts"} <= figures.keys()


def test_inspect_and_presets(model: Path) -> None:
    shown = run("inspect", model)
    assert shown.returncode == 0, shown.stderr
    assert "xr-linear" in shown.stdout
    assert "label " in shown.stdout
    listed = run("presets")
    assert listed.returncode == 0, listed.stderr
    assert "bonsai" in listed.stdout
    assert "cascadexml-amazon-670k" in listed.stdout
    assert "50.2/45.2/41.5" in listed.stdout
    helped = run("train", "--help", COLUMNS="300", NO_COLOR="1").stdout
    for method in METHODS:
        assert method in listed.stdout or method == "ensemble"  # which has a command of its own
        assert method in helped or method == "ensemble"


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


def test_help_is_quick() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0
    assert "train" in done.stdout
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert cpu < 0.4, f"--help took {cpu:.2f} s of CPU time"


MISTAKES = {
    "no such data": (("train", "--data", "nowhere", "--out", "m"), "nowhere"),
    "no such method": (("train", "--data", "DATA", "--out", "m", "--method", "xr-liner"), "did you mean 'xr-linear'"),
    "no such preset": (("train", "--data", "DATA", "--out", "m", "--preset", "bonsay"), "did you mean 'bonsai'"),
    "no such option": (("train", "--data", "DATA", "--out", "m", "--set", "tree.max_lef=3"), "did you mean 'max_leaf'"),
    "not a number": (("train", "--data", "DATA", "--out", "m", "--set", "tree.max_leaf=x"), "max_leaf"),
    "impossible": (("train", "--data", "DATA", "--out", "m", "--set", "linear.solver.eps=-1"), "must be positive"),
    "no such field": (("train", "--data", "DATA", "--out", "m", "--labels", "tags"), "tags"),
    "no such split": (("evaluate", "MODEL", "--data", "DATA", "--split", "dev"), "dev"),
    "no such model": (("predict", "nowhere", "DATA/test.jsonl"), "nowhere"),
    "k of zero": (("predict", "MODEL", "DATA/test.jsonl", "--k", "0"), "at least one"),
    "no such metric": (("evaluate", "MODEL", "--data", "DATA", "--metrics", "pp@1"), "pp@1"),
    "encoder of a linear method": (
        ("train", "--data", "DATA", "--out", "m", "--encoder", "minilm"),
        "method 'xr-linear' has no encoder",
    ),
    "nothing to resume": (("train", "--data", "DATA", "--out", "m", "--resume"), "nothing to resume"),
    "an ensemble of nobody": (("train", "--data", "DATA", "--out", "m", "--method", "ensemble"), "treetop ensemble"),
    "a folder of texts": (("predict", "MODEL", "DATA"), "this is a folder"),
    "negative threads": (("train", "--data", "DATA", "--out", "m", "--threads", "-1"), "threads"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_one_clear_line_and_exit_2(mistake: str, model: Path, folder: Path) -> None:
    arguments, expected = MISTAKES[mistake]
    done = run(*(a.replace("DATA", str(folder)).replace("MODEL", str(model)) for a in arguments))
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert expected in done.stderr
    assert not Path("m").exists()


def test_a_folder_that_is_not_a_model_is_not_overwritten(folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter1.txt").write_text("words")
    done = run("train", "--data", folder, "--out", precious)
    assert done.returncode == 2
    assert (precious / "chapter1.txt").read_text() == "words"


def test_a_transformer_is_trained_interrupted_and_resumed(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    from tiny_methods import encoder

    out, kept = tmp_path / "m", tmp_path / "m.checkpoint"
    fixed = ("--data", folder, "--out", out, "--method", "lightxml", "--encoder", encoder().name, "--threads", "1")
    brief = ("--set", "encoder.max_tokens=32", "--set", "optim.steps=6", "--set", "optim.checkpoint_every=2")
    kept.mkdir()
    (kept / "run.json").write_text('{"config.optim.lr": 0.0001, "method": "lightxml", "seed": 0}')
    refused = run("train", *fixed, *brief)
    assert refused.returncode == 2
    assert "continue it with --resume" in refused.stderr
    refused = run("train", *fixed, *brief, "--resume", "--set", "optim.lr=0.5")
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
    assert max(row["step"] for row in rows) == 2 * 25  # 400 texts by 2 × 8
    figures = tmp_path / "figures.json"
    assert run("evaluate", tmp_path / "m", "--data", folder, "--json", figures).returncode == 0
    assert json.loads(figures.read_text())["p@1"] > 0.9


def test_without_torch_a_transformer_is_one_line_and_exit_2(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run("train", "--data", folder, "--out", tmp_path / "m", "--method", "lightxml", PYTHONPATH=path)
    assert done.returncode == 2
    assert done.stderr.strip() == "error: torch is not installed. Install it with: pip install 'treetop[neural]'"


def complain(arguments: list[str | Path], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str:
    """What the command line says in its one line before it exits with 2; in this process, as torch takes seconds."""
    monkeypatch.setattr(sys, "argv", ["treetop", *map(str, arguments)])
    capfd.readouterr()
    with pytest.raises(SystemExit) as exit_:
        main()
    said = capfd.readouterr().err
    assert exit_.value.code == 2, said
    assert len(said.strip().splitlines()) == 1, said
    return said


def test_mistakes_with_a_transformer_are_one_clear_line_and_exit_2(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    from tiny_methods import encoder
    from treetop.methods.lightxml import LightXML
    from treetop.presets.registry import resolve
    from treetop.runtime import Runtime

    def train(name: str | Path, *more: str | Path) -> str:
        fixed = ["train", "--data", folder, "--out", tmp_path / "m", "--method", "lightxml", "--threads", "1"]
        return complain([*fixed, "--encoder", name, "--set", "optim.steps=2", *more], monkeypatch, capfd)

    for what, pattern in (("tokenizer", "tokenizer*"), ("weights", "*.safetensors"), ("configuration", "config.json")):
        broken = shutil.copytree(encoder().name, tmp_path / what)
        for path in broken.glob(pattern):
            path.unlink()
        for quiet in ((), ("--quiet",)):
            assert f"an encoder folder without a {what}".replace("a weights", "weights") in train(broken, *quiet)
    assert "Lower optim.batch_size" in train(encoder().name, "--set", "mode=groups", "--set", "bottleneck=1000000000")
    assert "reads at most 64" in train(encoder().name, "--set", "encoder.max_tokens=100")
    assert "device is 'abacus'" in train(encoder().name, "--device", "abacus")
    assert "precision is 'int3'" in train(encoder().name, "--precision", "int3")
    assert not (tmp_path / "m.checkpoint").exists()  # the next attempt is not taken for a continuation

    settings = ("optim.steps=2", "encoder.max_tokens=32")
    config = resolve("lightxml", encoder=encoder().name, assignments=settings)
    LightXML(config, runtime=Runtime(threads=1), checkpoint=tmp_path / "m.checkpoint").fit(read(folder))
    assert "now it is 16" in train(encoder().name, "--resume", "--set", "encoder.max_tokens=16")
    (kept,) = (tmp_path / "m.checkpoint").glob("*/step-*/tensors.safetensors")
    kept.write_bytes(kept.read_bytes()[:-1000])
    assert "checkpoint is damaged or cut short" in train(encoder().name, "--resume", "--set", "encoder.max_tokens=32")
    assert kept.exists()

"""Trainings that are killed, resumed, or run on other numbers of threads: the model is the same in every byte."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from drills.drill import MODELS

__all__ = ["any_threads", "kill_a_training"]

_TIMED = ("model.json", "training.jsonl")
_TOPICS = ("apple pie cake", "rain wind snow", "topic1 topic2", "text noise1 noise2")
_ENCODER = ("--encoder", str(MODELS / "lightxml" / "encoder"), "--set", "encoder.max_tokens=16")
_BRIEF = ("--set", "optim.steps=6", "--set", "optim.checkpoint_every=2", "--set", "optim.batch_size=8", "--resume")
RUNS = {
    "xr-linear": ("--method", "xr-linear", "--set", "tree.max_leaf=2"),
    "one-vs-all": ("--method", "one-vs-all"),
    "lightxml": ("--method", "lightxml", *_ENCODER, *_BRIEF),
    "cascadexml": ("--method", "cascadexml", *_ENCODER, *_BRIEF),
    "xr-transformer": ("--method", "xr-transformer", *_ENCODER, *_BRIEF),
    "x-transformer": ("--method", "x-transformer", *_ENCODER, *_BRIEF),
}


def kill_a_training(place: Path, number: int) -> str:
    """SIGKILL at a random moment, again and again, then to the end: the files of an uninterrupted run."""
    name, random = list(RUNS)[number % len(RUNS)], Random(number)
    expected, seconds = _uninterrupted(name)
    out = place / "model"
    _clear(place)
    kills = random.randrange(1, 4)
    for _ in range(kills):
        process = subprocess.Popen(
            _command(name, _data(place), out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(random.uniform(0.2, 1.0) * seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        if out.exists() and _files(out) != expected:
            return f"{name}: a model that is not that of an uninterrupted run"
    done = subprocess.run(_command(name, _data(place), out), capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{name}, killed {kills} times: {done.stderr[-300:]}"
    left = sorted(path.name for path in place.iterdir() if not path.name.endswith(".partial"))
    if left != ["data.jsonl", "model"]:
        return f"{name}: left behind {left}"
    return "" if _files(out) == expected else f"{name}, killed {kills} times: other files than without"


def any_threads(place: Path, number: int) -> str:
    """A linear model on one, two and five threads: the same files."""
    name = ("xr-linear", "one-vs-all")[number % 2]
    found = []
    for threads in ("1", "2", "5"):
        _clear(place)
        command = _command(name, _data(place), place / "model", threads=threads, seed=str(number))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{name} on {threads} threads: {done.stderr[-300:]}"
        found.append(_files(place / "model"))
    return "" if found[0] == found[1] == found[2] else f"{name}, seed {number}: not the same on 1, 2 and 5 threads"


@cache
def _uninterrupted(name: str) -> tuple[dict[str, Any], float]:
    with tempfile.TemporaryDirectory() as place:
        start = time.monotonic()
        subprocess.run(_command(name, _data(Path(place)), Path(place) / "model"), capture_output=True, check=True)
        return _files(Path(place) / "model"), time.monotonic() - start


def _command(name: str, data: Path, out: Path, *, threads: str = "1", seed: str = "0") -> list[str]:
    command = [sys.executable, "-m", "treetop", "train", "--data", str(data), "--out", str(out), "--quiet"]
    return [*command, "--threads", threads, "--seed", seed, *RUNS[name]]


def _data(place: Path) -> Path:
    """Forty texts of four topics."""
    path, random = place / "data.jsonl", Random(0)
    if not path.exists():
        rows = []
        for number in range(40):
            topic = _TOPICS[number % 4]
            text = " ".join(random.choices(topic.split(), k=5))
            rows.append({"text": text, "labels": [topic.split()[0], f"{topic.split()[1]} {number % 8}"]})
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _clear(place: Path) -> None:
    for path in place.iterdir():
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def _files(model: Path) -> dict[str, Any]:
    files: dict[str, Any] = json.loads((model / "manifest.json").read_text(encoding="utf-8"))["files"]
    return {name: entry for name, entry in files.items() if name not in _TIMED}

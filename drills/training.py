"""Trainings that are killed, resumed, or run on other numbers of threads: the model is the same in every byte.

Each runs in a fork of a process that has imported what it needs, so that it takes as long as the training itself.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from drills.drill import MODELS
from treetop.apps.cli import main
from treetop.methods import load
from treetop.runtime import Runtime

__all__ = ["any_threads", "kill_a_training", "kill_a_training_of_minilm"]

_TIMED = ("model.json", "training.jsonl")
_TOPICS = ("apple pie cake", "rain wind snow", "topic1 topic2", "text noise1 noise2")
_TINY = ("--encoder", str(MODELS / "lightxml" / "encoder"), "--set", "encoder.max_tokens=16")
_REAL = ("--encoder", "minilm", "--set", "encoder.max_tokens=8", "--set", "encoder.freeze=5")
_BRIEF = ("--set", "optim.steps=6", "--set", "optim.checkpoint_every=2", "--set", "optim.batch_size=8", "--resume")
_TUNED = ("lightxml", "cascadexml", "xr-transformer", "x-transformer")
_LINEAR = {
    "xr-linear": ("train", "--method", "xr-linear", "--set", "tree.max_leaf=2"),
    "one-vs-all": ("train", "--method", "one-vs-all"),
    "ensemble": ("ensemble", str(MODELS / "xr-linear"), str(MODELS / "one-vs-all"), "--fuser", "average"),
}
RUNS = {**_LINEAR, **{name: ("train", "--method", name, *_TINY, *_BRIEF) for name in _TUNED}}
REAL_RUNS = {name: ("train", "--method", name, *_REAL, *_BRIEF) for name in _TUNED}
_OURS = ("data.jsonl", "model", "said")


def kill_a_training(place: Path, number: int) -> str:
    """One of every method, and of ensembles."""
    return _killed(list(RUNS.values())[number % len(RUNS)], place, number)


def kill_a_training_of_minilm(place: Path, number: int) -> str:
    """The same with a real encoder, of which one layer learns."""
    return _killed(list(REAL_RUNS.values())[number % len(REAL_RUNS)], place, number)


def any_threads(place: Path, number: int) -> str:
    """A linear model on one, two and five threads: the same files."""
    words = list(_LINEAR.values())[number % 2]
    found = []
    for threads in ("1", "2", "5"):
        _clear(place)
        if code := _ended(_begun(words, place, threads=threads, seed=str(number))):
            return f"{words} on {threads} threads ended with {code}: {_said(place)}"
        found.append(_files(place / "model"))
    return "" if found[0] == found[1] == found[2] else f"{words}, seed {number}: not the same on 1, 2 and 5 threads"


def _killed(words: tuple[str, ...], place: Path, number: int) -> str:
    """SIGKILL at a random moment, once to three times, then to the end: the files of an uninterrupted run."""
    random = Random(number)
    expected, seconds = _uninterrupted(words)
    out, kills = place / "model", random.randrange(1, 4)
    _clear(place)
    for _ in range(kills):
        child = _begun(words, place)
        time.sleep(random.random() * 1.05 * seconds)
        os.kill(child, signal.SIGKILL)
        _ended(child)
        if out.exists() and _files(out) != expected:
            return f"{words}: a model that is not that of an uninterrupted run"
    if code := _ended(_begun(words, place)):
        return f"{words}, killed {kills} times, ended with {code}: {_said(place)}"
    left = sorted(path.name for path in place.iterdir() if not path.name.endswith(".partial"))
    if not set(left) <= set(_OURS):
        return f"{words}: left behind {left}"
    return "" if _files(out) == expected else f"{words}, killed {kills} times: other files than without"


@cache
def _uninterrupted(words: tuple[str, ...]) -> tuple[dict[str, Any], float]:
    """The files of a run that nobody kills, and the seconds that it takes."""
    load(MODELS / "lightxml", runtime=Runtime(threads=1))  # imports, also for the forks to come
    with tempfile.TemporaryDirectory() as folder:
        place, start = Path(folder), time.monotonic()
        if code := _ended(_begun(words, place)):
            raise RuntimeError(f"{words} ended with {code}: {_said(place)}")
        return _files(place / "model"), time.monotonic() - start


def _begun(words: tuple[str, ...], place: Path, *, threads: str = "1", seed: str = "0") -> int:
    """The process of a command that writes `model` in a place."""
    command = [*words, "--out", str(place / "model"), "--threads", threads, "--quiet"]
    if words[0] == "train":
        command += ["--data", str(_data(place)), "--seed", seed]
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        said = os.open(place / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.argv = ["treetop", *command]
        main()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        sys.stderr.flush()
        os._exit(code)


def _ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _said(place: Path) -> str:
    return (place / "said").read_text(encoding="utf-8", errors="replace")[-300:]


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
    return {name: entry for name, entry in files.items() if Path(name).name not in _TIMED}

"""Trainings that are killed, resumed, or run on other numbers of threads: the model is the same in every byte.

Each runs in a fork of a process that has imported what it needs, so that it takes as long as the training itself.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from drills.current import tagged_texts
from drills.drill import MODELS, Facts, cpu_seconds
from drills.forks import command_ended, die_in, fork, with_its_modules

__all__ = [
    "TUNED_RUNS", "about_the_kills", "any_threads", "begun", "clear", "ended", "import_for", "kill_a_training",
    "kill_a_training_of_minilm", "said", "write_data",
]  # fmt: skip

_TIMED = ("model.json", "training.jsonl")
_TINY = ("--encoder", str(MODELS / "lightxml" / "encoder"), "--set", "encoder.max_tokens=16")
_REAL = ("--encoder", "minilm", "--set", "encoder.max_tokens=8", "--set", "encoder.freeze=5")
_BRIEF = ("--set", "optim.steps=6", "--set", "optim.checkpoint_every=2", "--set", "optim.batch_size=8", "--resume")
_TUNED = {
    "lightxml": (), "cascadexml": (), "xr-transformer": (), "x-transformer": ("--set", "tree.max_leaf=2"),
}  # fmt: skip
_LINEAR = {
    "xr-linear": ("train", "--method", "xr-linear", "--set", "tree.max_leaf=2"),
    "one-vs-all": ("train", "--method", "one-vs-all"),
    "ensemble": ("ensemble", str(MODELS / "xr-linear"), str(MODELS / "one-vs-all"), "--fuser", "average"),
}
_READ_BY_TORCH = ("--set", "encoder.reader=torch")
"""Without an export, which takes ten times as long as all the rest and would get nearly all of the kills."""
TUNED_RUNS = tuple(("train", "--method", name, *_TINY, *_BRIEF, *_READ_BY_TORCH, *own) for name, own in _TUNED.items())
_WITHOUT_EXPORT = (*_LINEAR.values(), *TUNED_RUNS)
_EXPORTED = ("train", "--method", "lightxml", *_TINY, *_BRIEF)
RUNS = (*_WITHOUT_EXPORT * 5, _EXPORTED)
REAL_RUNS = tuple(("train", "--method", name, *_REAL, *_BRIEF, *_READ_BY_TORCH, *own) for name, own in _TUNED.items())
_OURS = ("data.jsonl", "model", "said")
_WALL, _CPU = time.CLOCK_MONOTONIC, time.CLOCK_PROCESS_CPUTIME_ID
"""By the first, most kills meet a process that waits for a disk, by the second one that computes."""
Moment: TypeAlias = tuple[int, float]
"""A clock, and seconds by it."""
_KILLED = {"kills": 0}


def kill_a_training(place: Path, number: int) -> str:
    """One of every method, and of ensembles."""
    return _killed(RUNS[number % len(RUNS)], place, number)


def kill_a_training_of_minilm(place: Path, number: int) -> str:
    """The same with a real encoder, of which one layer learns."""
    return _killed(REAL_RUNS[number % len(REAL_RUNS)], place, number)


def any_threads(place: Path, number: int) -> str:
    """A linear model on one, two and five threads: the same files."""
    words = list(_LINEAR.values())[number % 2]
    found = []
    for threads in ("1", "2", "5"):
        clear(place)
        if code := ended(begun(words, place, threads=threads, seed=str(number))):
            return f"{words} on {threads} threads ended with {code}: {said(place)}"
        found.append(_files(place / "model"))
    return "" if found[0] == found[1] == found[2] else f"{words}, seed {number}: not the same on 1, 2 and 5 threads"


def _killed(words: tuple[str, ...], place: Path, number: int) -> str:
    """SIGKILL at a random moment, once to three times, then to the end: the files of an uninterrupted run."""
    random = Random(number)
    expected, lengths = _uninterrupted(words)
    out, kills = place / "model", random.randrange(1, 4)
    clear(place)
    for _ in range(kills):
        clock, length = random.choice(lengths)
        code = ended(begun(words, place, death=(clock, random.random() * 1.05 * length)))
        _KILLED["kills"] += code == -signal.SIGKILL
        if out.exists() and _files(out) != expected:
            return f"{words}: a model that is not that of an uninterrupted run"
    if code := ended(begun(words, place)):
        return f"{words}, killed {kills} times, ended with {code}: {said(place)}"
    left = sorted(path.name for path in place.iterdir() if not path.name.endswith(".partial"))
    if not set(left) <= set(_OURS):
        return f"{words}: left behind {left}"
    return "" if _files(out) == expected else f"{words}, killed {kills} times: other files than without"


@cache
def _uninterrupted(words: tuple[str, ...]) -> tuple[dict[str, Any], tuple[Moment, ...]]:
    """The files of a run that nobody kills, and how long it takes by either clock."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        import_for(words)
        start, used = time.monotonic(), cpu_seconds()
        if code := ended(begun(words, place)):
            raise RuntimeError(f"{words} ended with {code}: {said(place)}")
        lengths = ((_WALL, time.monotonic() - start), (_CPU, cpu_seconds() - used))
        return _files(place / "model"), lengths


@cache
def import_for(words: tuple[str, ...]) -> None:
    """Import what a command needs, so that its forks do not."""
    with tempfile.TemporaryDirectory() as folder:
        command = _command(words, Path(folder))
        with_its_modules(lambda: command_ended(command, Path(folder) / "said"))
    if "--encoder" in words:
        _learn_names_of_weights()


def _learn_names_of_weights() -> None:
    """Hundreds of expressions that transformers compiles when it first reads weights: half of such a training."""
    with suppress(ImportError):  # of versions without them
        from transformers.conversion_mapping import get_checkpoint_conversion_mapping

        get_checkpoint_conversion_mapping("bert")  # type: ignore[no-untyped-call]


def about_the_kills() -> Facts:
    """How many processes were there to be killed when their moment came."""
    return dict(_KILLED)


def begun(
    words: tuple[str, ...], place: Path, *, threads: str = "1", seed: str = "0", death: Moment | None = None
) -> int:
    """The process of a command that writes `model` in a place, and is killed at a moment if there is one."""
    command = _command(words, place, threads=threads, seed=seed)
    return fork(lambda: _run(command, place, death))


def _command(words: tuple[str, ...], place: Path, *, threads: str = "1", seed: str = "0") -> list[str]:
    command = [*words, "--out", str(place / "model"), "--threads", threads, "--quiet"]
    return [*command, "--data", str(write_data(place)), "--seed", seed] if words[0] == "train" else command


def _run(command: list[str], place: Path, death: Moment | None) -> None:
    if death:
        die_in(*death)
    os._exit(command_ended(command, place / "said"))


def ended(child: int) -> int:
    """How a process ends, once it has."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def said(place: Path) -> str:
    """The end of what the last command in a place said."""
    return (place / "said").read_text(encoding="utf-8", errors="replace")[-3000:]


def write_data(place: Path) -> Path:
    """Forty texts of four topics."""
    path = place / "data.jsonl"
    if not path.exists():
        rows = [{"text": text, "labels": labels} for text, labels in zip(*tagged_texts(40), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def clear(place: Path) -> None:
    """Remove everything from a folder."""
    for path in place.iterdir():
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def _files(model: Path) -> dict[str, Any]:
    files: dict[str, Any] = json.loads((model / "manifest.json").read_text(encoding="utf-8"))["files"]
    return {name: entry for name, entry in files.items() if Path(name).name not in _TIMED}

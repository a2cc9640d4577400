"""What a drill is and how it is run: in a process of its own, so that a crash or a hang is counted, too."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["MODELS", "ROOT", "Drill", "Outcome", "run", "work"]

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "tests" / "fixtures" / "models" / "0.1.0"
"""A small model of every method."""
PATIENCE = 600


@dataclass(frozen=True, slots=True)
class Drill:
    """A name, what is tried, what must hold, and one round: what went wrong in it, in words, or nothing."""

    name: str
    tries: str
    holds: str
    round: Callable[[Path, int], str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Rounds that were run, and what went wrong in some."""

    drill: str
    rounds: int
    failures: tuple[str, ...]
    seconds: float


def work(drill: Drill, first: int) -> None:
    """Run rounds until somebody ends this process, and say so on standard output: before and after each."""
    with tempfile.TemporaryDirectory(prefix="treetop-drill-") as place:
        number = first
        while True:
            _say({"begun": number})
            _say({"ended": number, "problem": drill.round(Path(place), number)})
            number += 1


def run(drill: Drill, *, seconds: float, rounds: int | None = None, first: int = 0) -> Outcome:
    """Rounds of a drill for so long, or so many; at least one."""
    start, number, failures = time.monotonic(), first, []
    while number == first or (time.monotonic() - start < seconds and (rounds is None or number - first < rounds)):
        end = start + seconds
        for problem in _rounds(drill, number, end, None if rounds is None else rounds - (number - first)):
            number += 1
            failures += [problem] if problem else []
    return Outcome(drill.name, number - first, tuple(failures), round(time.monotonic() - start, 1))


def _rounds(drill: Drill, first: int, end: float, most: int | None) -> Iterator[str]:
    """The problem of each round of one process, until time is up, enough are done, or the process is lost."""
    command = [sys.executable, "-m", "drills", "work", drill.name, str(first)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    done = 0
    try:
        for said in _lines(process):
            if "ended" in said:
                done += 1
                yield said["problem"]
                if time.monotonic() > end or done == most:
                    return
        _, trace = process.communicate()
        yield f"round {first + done}: the process ended with {process.returncode}: {trace[-500:]}"
    finally:
        process.kill()
        process.wait()


def _lines(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """What a process says, until it ends; one that is silent for too long is ended."""
    assert process.stdout is not None
    while True:
        patience = threading.Timer(PATIENCE, process.kill)
        patience.start()
        line = process.stdout.readline()
        patience.cancel()
        if not line:
            return
        yield json.loads(line)


def _say(fact: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(fact) + "\n")
    sys.stdout.flush()

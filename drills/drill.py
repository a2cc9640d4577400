"""What a drill is and how it is run: in a process of its own, so that a crash or a hang is counted, too."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeAlias

__all__ = ["MODELS", "ROOT", "Drill", "Facts", "Outcome", "cpu_seconds", "run", "work"]

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "tests" / "fixtures" / "models" / "0.1.0"
"""A small model of every method."""
PATIENCE = 600
"""Seconds of silence after which a round counts as one that hangs: seconds in which this process ran, too."""
Facts: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Drill:
    """A name, what is tried, what must hold, and one round: what went wrong in it, in words, or nothing."""

    name: str
    tries: str
    holds: str
    round: Callable[[Path, int], str]
    each: int = 1
    """How much is tried in a round, where that is more than one thing."""
    batch: int = 1_000_000
    """Rounds after which a process makes place for a fresh one."""
    facts: Callable[[], Facts] = dict
    """What else is worth keeping, asked for after every round."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Rounds that were run, and what went wrong in some."""

    drill: str
    rounds: int
    failures: tuple[str, ...]
    seconds: float
    cpu_seconds: float = 0.0
    facts: Facts = field(default_factory=dict)


def work(drill: Drill, first: int) -> None:
    """Run rounds until enough are done or somebody ends this process, and tell of each through a pipe of their own.

    What a library prints goes to standard error.
    """
    with os.fdopen(os.dup(1), "w", buffering=1) as told, tempfile.TemporaryDirectory(prefix="treetop-drill-") as place:
        os.dup2(2, 1)
        for number in range(first, first + drill.batch):
            problem = drill.round(Path(place), number)
            told.write(json.dumps({"problem": problem, "facts": drill.facts()}) + "\n")


def run(drill: Drill, *, seconds: float, rounds: int | None = None, first: int = 0) -> Outcome:
    """Rounds of a drill for so long, or so many; at least one. Ctrl-C or SIGTERM ends it, and what was done counts."""
    start, used, number = time.monotonic(), cpu_seconds(), first
    failures: list[str] = []
    facts: Facts = {}
    most = sys.maxsize if rounds is None else -(-rounds // drill.each)
    try:
        while number == first or (time.monotonic() - start < seconds and number - first < most):
            for problem, told in _rounds(drill, number, start + seconds, most - (number - first)):
                number, facts = number + 1, told or facts
                failures += [problem] if problem else []
    except KeyboardInterrupt:
        pass
    took, cpu = time.monotonic() - start, cpu_seconds() - used
    return Outcome(drill.name, (number - first) * drill.each, tuple(failures), round(took, 1), round(cpu, 1), facts)


def _rounds(drill: Drill, first: int, end: float, most: int) -> Iterator[tuple[str, Facts]]:
    """Problem and facts of each round of one process, until time is up, enough are done, or the process is lost."""
    command = [sys.executable, "-m", "drills", "work", drill.name, str(first)]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as trace:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=trace, text=True)
        done = 0
        try:
            for said in _lines(process):
                done += 1
                yield said["problem"], said["facts"]
                if time.monotonic() > end or done == most:
                    return
            if process.wait() or done < drill.batch:
                yield f"round {first + done}: the process ended with {process.returncode}: {_end_of(trace)}", {}
        finally:
            process.kill()
            process.wait()


def _end_of(trace: IO[str]) -> str:
    trace.seek(0)
    return trace.read()[-1500:]


def _lines(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """What a process says, until it ends; one that is silent for too long is ended."""
    assert process.stdout is not None
    heard = threading.Event()
    threading.Thread(target=_watch, args=(process, heard), daemon=True).start()
    for line in process.stdout:
        heard.set()
        yield json.loads(line)


def _watch(process: subprocess.Popen[str], heard: threading.Event) -> None:
    """Seconds are counted, not measured: on a machine that stops us both, nobody was silent meanwhile."""
    silent = 0
    while process.returncode is None:
        time.sleep(1)
        silent = 0 if heard.is_set() else silent + 1
        heard.clear()
        if silent == PATIENCE:
            process.kill()


def cpu_seconds() -> float:
    """CPU-seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

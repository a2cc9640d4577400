"""Checkpoints that somebody damaged: the training goes on, or says in one line what to remove."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

from drills.mutations import mutate
from drills.training import TUNED_RUNS, begun, clear, ended, import_for, said, write_data
from treetop.manifest import MANIFEST

__all__ = ["resume_from_damage"]

_STATE = "model.checkpoint"
_PATIENCE = 120


def resume_from_damage(place: Path, number: int) -> str:
    """One change of the checkpoint of a training that was cut off, mostly without its manifest; then it is resumed."""
    random = Random(number)
    words = TUNED_RUNS[number % len(TUNED_RUNS)]
    clear(place)
    write_data(place)
    shutil.copytree(_cut_off(words), place / _STATE)
    done = ""
    with suppress(OSError, ValueError, RecursionError):  # of what is damaged beyond damaging
        done = mutate(place / _STATE, random)
    if random.random() < 0.8:
        for manifest in (place / _STATE).rglob(MANIFEST):
            manifest.unlink()
    code = ended(begun(words, place))
    lines = said(place).strip().splitlines()
    if code == 0 or (code == 2 and len(lines) == 1 and lines[0].startswith("error:")):
        return ""
    return f"seed {number}, {words[2]}, {done}: exit code {code}: {lines[-3:]}"


@cache
def _cut_off(words: tuple[str, ...]) -> Path:
    """The checkpoint of a training that was killed when it had one."""
    home = tempfile.TemporaryDirectory(prefix="treetop-state-")
    _KEPT.append(home)
    place = Path(home.name)
    import_for(words)
    child, end = begun(words, place), time.monotonic() + _PATIENCE
    while not list((place / _STATE).glob("**/step-*")):
        if time.monotonic() > end:
            raise RuntimeError(f"{words} writes no checkpoint: {said(place)}")
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    ended(child)
    return place / _STATE


_KEPT: list[tempfile.TemporaryDirectory[str]] = []

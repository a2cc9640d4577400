"""Disks that are full, have room for no more files, or may only be read: a command fails in one line, nothing is lost.

A disk is a tmpfs that a process mounts in a namespace of its own, so nothing outside sees it, and it goes with it.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from drills.drill import MODELS
from drills.forks import command_ended, in_child, with_its_modules
from drills.saving import files_of, model_named
from drills.training import clear, write_data
from treetop.errors import StoreError
from treetop.methods import load
from treetop.runtime import Runtime
from treetop.store import Folder

__all__ = ["can_mount", "short_of_disk"]

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_READ_ONLY, _REMOUNT, _RECURSIVE, _PRIVATE = 0x1, 0x20, 0x4000, 0x40000
_SIZE = 8 << 20
_LEFT = (0, 100, 4096, 10_000, 30_000, 100_000)
_LINEAR, _FLAT = str(MODELS / "xr-linear"), str(MODELS / "one-vs-all")
_COMMANDS = (
    "train --data data.jsonl --out disk/model --method one-vs-all --threads 1 --quiet --seed 1",
    "train --data data.jsonl --out disk/model --method xr-linear --test-share 0.25 --threads 1 --quiet",
    f"ensemble {_LINEAR} {_FLAT} --out disk/model --fuser average --threads 1",
    f"predict {_LINEAR} data.jsonl --out disk/found.jsonl --threads 1",
    f"predict {_LINEAR} data.jsonl --out disk/found.parquet --threads 1",
    f"report {_LINEAR} --data data.jsonl --split train --out disk/page.html --threads 1 --quiet",
    f"evaluate {_LINEAR} --data data.jsonl --json disk/figures.json --threads 1 --quiet",
    "split data.jsonl --out disk/parts --test 0.25 --gzip",
    "look data.jsonl --json disk/facts.json --quiet",
)


_IMPORTED: set[str] = set()
"""Commands whose modules are here."""


def short_of_disk(place: Path, number: int) -> str:
    """One command on such a disk, or a save from Python: one clear line, or it is done; the model there is whole."""
    random = Random(number)
    kind, left = random.choice(("full", "full", "files", "read-only")), random.choice(_LEFT)
    words = random.choice((*_COMMANDS, "save", "save"))
    clear(place)
    write_data(place)
    told = place / "told"
    run = in_child if words in _IMPORTED else with_its_modules
    _IMPORTED.add(words)
    status = run(lambda: told.write_text(_tried(place, kind, left, words, random), encoding="utf-8"))
    problem = told.read_text(encoding="utf-8") if told.exists() else f"the process ended with {status}"
    return f"seed {number}, {kind}, {left} bytes left, {words}: {problem}" if problem else ""


def can_mount() -> bool:
    """Whether this system lets us have a disk of our own."""
    return in_child(_own_mounts) == 0


def _tried(place: Path, kind: str, left: int, words: str, random: Random) -> str:
    os.chdir(place)
    _own_mounts()
    disk = place / "disk"
    disk.mkdir()
    _mount(disk, f"size={_SIZE},nr_inodes=200")
    old = random.choice(("lightxml", "xr-linear"))
    model_named(old).save(disk / "model")
    before = files_of(disk)
    _make_short(disk, kind, left)
    problem = _saved(disk) if words == "save" else _commanded(words, place / "said")
    for filler in disk.glob("filler*"):
        if kind != "read-only":
            filler.unlink()
    lost = problem or _torn(disk / "model", before)
    after = files_of(disk)
    ours = [name for name in after if name not in before and not name.startswith("filler")]
    halves = [name for name in ours if ".partial" in name]
    return lost or (f"left behind {halves}" if halves else "")


def _torn(model: Path, before: dict[str, bytes]) -> str:
    """What is wrong with the model after a command: it is the old one, or a new one, every byte of it."""
    if files_of(model) == {name.removeprefix("model/"): content for name, content in before.items()}:
        return ""
    try:
        Folder.open(model).verify()
        load(model, runtime=Runtime(threads=1))
    except StoreError as error:
        return f"the model: {error}"
    return ""


def _make_short(disk: Path, kind: str, left: int) -> None:
    if kind == "read-only":
        _mount(disk, "", _REMOUNT | _READ_ONLY)
    elif kind == "files":
        _until_full(lambda number: (disk / f"filler{number}").touch())
        for filler in sorted(disk.glob("filler*"))[: left % 5]:
            filler.unlink()
    else:
        with (disk / "filler").open("wb", buffering=0) as file:
            _until_full(lambda _: file.write(b"x" * 4096))
            file.truncate(file.tell() - left)


def _until_full(fill: Callable[[int], object]) -> None:
    with suppress(OSError):
        for number in range(1 << 20):
            if fill(number) not in (None, 4096):
                return


def _saved(disk: Path) -> str:
    before = files_of(disk / "model")
    try:
        model_named("one-vs-all").save(disk / "model")
    except StoreError:
        return "" if files_of(disk / "model") == before else "the save failed, and the model has changed"
    return ""


def _commanded(words: str, said: Path) -> str:
    code = command_ended(words.split(), said)
    lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    errors = [line for line in lines if line.startswith("error:")]
    if code == 0 or (code == 2 and len(errors) == 1 and lines[-1] == errors[0]):
        return ""
    return f"exit code {code}: {lines[-5:]}"


def _own_mounts() -> None:
    """From here on, this process mounts for itself."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_MOUNTS) and libc.unshare(_NEW_USER | _NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), "no namespace of our own")
    if libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None):
        raise OSError(ctypes.get_errno(), "mounts cannot be made our own")


def _mount(disk: Path, options: str, flags: int = 0) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", bytes(disk), b"tmpfs", flags, options.encode()):
        raise OSError(ctypes.get_errno(), "no disk can be mounted")

"""Saves that are killed, starved or raced: at every moment one whole model is in its place."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from drills.drill import MODELS
from drills.forks import fork, in_child
from treetop.errors import StoreError
from treetop.methods import Method, load
from treetop.runtime import Runtime
from treetop.store import Folder

__all__ = [
    "files_of", "kill_a_save", "model_named", "no_room", "replace_while_read", "two_writers", "whole",
]  # fmt: skip

_EVENTS = ("open", "os.rename", "os.rmdir", "os.remove", "os.mkdir", "os.chmod", "os.truncate", "shutil.rmtree")
_NAMES = sorted(path.name for path in MODELS.iterdir() if path.is_dir())
_MOST_EVENTS = dict.fromkeys(_NAMES, 200)
TEXTS = ["apple pie", "rain and wind", "cake"] * 5


@cache
def model_named(name: str) -> Method[Any]:
    """A small model of a method."""
    return load(MODELS / name, runtime=Runtime(threads=1))


def kill_a_save(place: Path, number: int) -> str:
    """SIGKILL before some file event of a save over another model: the old or the new one must be there, whole."""
    name = _NAMES[number % len(_NAMES)]
    target = _begin(place, name)
    moment = Random(number).randrange(_MOST_EVENTS[name])
    status = in_child(lambda: _save_until(name, target, moment))
    if status == 0:
        _MOST_EVENTS[name] = max(2, moment)  # later moments would kill nobody
    elif not os.WIFSIGNALED(status):
        return f"{name}, event {moment}: the save ended with {status}"
    return whole(target, f"{name}, killed at event {moment}")


def no_room(place: Path, number: int) -> str:
    """A disk that takes no more than so many bytes of a file: the save fails and the old model stays."""
    import resource

    name = _NAMES[number % len(_NAMES)]
    target, size = _begin(place, name), Random(number).choice((0, 100, 1000, 3000, 10_000))
    before = (target / "manifest.json").read_bytes()

    def save() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        try:
            model_named(name).save(target)
        except StoreError:
            os._exit(3)

    status = os.waitstatus_to_exitcode(in_child(save))
    if status not in (0, 3):
        return f"{name}, {size} bytes: the save ended with {status}"
    if status == 3 and (target / "manifest.json").read_bytes() != before:
        return f"{name}, {size} bytes: the save failed, and the model has changed"
    return whole(target, f"{name}, {size} bytes of room")


def two_writers(place: Path, number: int) -> str:
    """Three processes save three models to one place at once: it then holds one of them, whole."""
    names = Random(number).sample(_NAMES, 3)
    target = _begin(place, names[0])
    for name in names:
        model_named(name)
    children = [fork(lambda name=name: _save_or_refuse(name, target)) for name in names]  # type: ignore[misc]
    ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if any(code not in (0, 3) for code in ended):
        return f"{names}: the writers ended with {ended}"
    return whole(target, f"{names} at once")


def replace_while_read(place: Path, number: int) -> str:
    """Eight threads ask a loaded model while other models take its place: each answer is that of the loaded one."""
    from concurrent.futures import ThreadPoolExecutor

    name = _NAMES[number % len(_NAMES)]
    target = _begin(place, name)
    loaded = load(target, runtime=Runtime(threads=1))
    expected = model_named(name).predict(TEXTS, k=3).labels.tolist()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(lambda: loaded.predict(TEXTS, k=3).labels.tolist()) for _ in range(40)]
        for other in Random(number).sample(_NAMES, 3):
            model_named(other).save(target)
        wrong = sum(answer.result() != expected for answer in asked)
    return f"{name}: {wrong} of 40 answers are wrong" if wrong else whole(target, name)


def _begin(place: Path, name: str) -> Path:
    """A model of another method in the place that is then fought for."""
    target = place / "model"
    for path in place.iterdir():
        shutil.rmtree(path, ignore_errors=True)
    model_named(name).save(target)
    return target


def whole(target: Path, what: str) -> str:
    """What is wrong with a model that must be there, every byte of it, and answer as it did before."""
    try:
        Folder.open(target).verify()
        found = load(target, runtime=Runtime(threads=1))
        right = found.predict(TEXTS, k=3).labels.tolist() == model_named(found.name).predict(TEXTS, k=3).labels.tolist()
    except Exception as error:
        return f"{what}: {type(error).__name__}: {error}"
    return "" if right else f"{what}: another model than any that was saved: {json.dumps(found.training)}"


def files_of(folder: Path) -> dict[str, bytes]:
    """What is in a folder, by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _save_until(name: str, target: Path, moment: int) -> None:
    left = moment

    def hook(event: str, _: tuple[Any, ...]) -> None:
        nonlocal left
        if event in _EVENTS:
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    model_named(name).save(target)


def _save_or_refuse(name: str, target: Path) -> None:
    try:
        model_named(name).save(target)
    except StoreError:
        os._exit(3)

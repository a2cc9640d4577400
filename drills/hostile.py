"""Model folders from strangers: damaged at random, then loaded and asked. Only a StoreError or an answer is allowed.

A manifest would notice nearly all of it, so it goes, or is made to fit the damage: whoever can change a file can do so.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from random import Random
from traceback import extract_tb
from typing import Any

from drills.mutations import MARKER, mutate
from drills.patience import TooLong, within
from treetop.errors import StoreError, TreetopError
from treetop.manifest import MANIFEST
from treetop.methods import Method, load
from treetop.methods.registry import method_record
from treetop.runtime import Runtime
from treetop.text.reading.exported import FILE as EXPORTED

__all__ = ["try_mutation"]

TEXTS = ["apple pie", "rain and wind", ""]
SECONDS = 60
"""CPU time after which a folder hangs."""


def try_mutation(model: Path, place: Path, seed: int) -> str:
    """Damage a copy of a model in `place`, load it, ask it; what went wrong, in words, or nothing."""
    copy, marker = place / "model", place / MARKER
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(model, copy)
    random = Random(seed)
    done = ""
    with suppress(OSError, ValueError, RecursionError):  # of what is damaged beyond damaging
        for _ in range(random.choice((1, 1, 1, 2, 5))):
            done += mutate(copy, random) + "; "
        _seal(copy, random)
    problem = _ask(copy)
    if marker.exists():
        marker.unlink()
        problem = "ran code"
    return f"{model.name}, seed {seed}: {done}{problem}" if problem else ""


def _seal(folder: Path, random: Random) -> None:
    """Mostly remove the manifest, and have exported encoders say that their files are what they are."""
    if not (folder / MANIFEST).exists() or random.random() < 0.1:
        return
    (folder / MANIFEST).unlink()
    for path in filter(Path.is_file, folder.rglob(EXPORTED)):
        about = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(about, dict):
            continue
        files = [file for file in path.parent.iterdir() if file.is_file() and file != path]
        about["files"] = {file.name: blake2b(file.read_bytes(), digest_size=12).hexdigest() for file in files}
        path.write_text(json.dumps(about), encoding="utf-8")


def _ask(folder: Path) -> str:
    try:
        with within(SECONDS):
            loaded = load(folder, runtime=Runtime(threads=1))
    except StoreError:
        return ""
    except TooLong:
        return "took too long to load"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return _predict(loaded)


def _predict(loaded: Method[Any]) -> str:
    asked: list[Callable[[], object]] = [lambda: loaded.predict(TEXTS, k=3), lambda: repr(loaded)]
    if loaded.calibration is not None:
        asked.append(lambda: loaded.predict(TEXTS, k=3, threshold="auto"))
    if not method_record(loaded.name).has("encoder"):  # whose explanations take a hundred times as long
        asked.append(lambda: loaded.explain(TEXTS[0]).to_dict())
    return next(filter(None, map(_answered, asked)), "")


def _answered(ask: Callable[[], object]) -> str:
    """What is wrong with an answer, which may be one of our errors."""
    try:
        with within(SECONDS):
            ask()
    except TreetopError:
        return ""
    except TooLong:
        return "took too long to answer"
    except BaseException as error:
        return f"when asked, {type(error).__name__}: {str(error)[:200]}; {_where(error)}"
    return ""


def _where(error: BaseException) -> str:
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in extract_tb(error.__traceback__)]
    return " ".join(places[-4:])

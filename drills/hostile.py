"""Model folders from strangers: damaged at random, then loaded and asked. Only a StoreError or an answer is allowed."""

from __future__ import annotations

import faulthandler
import shutil
import signal
from contextlib import suppress
from pathlib import Path
from random import Random
from types import FrameType

from drills.mutations import MARKER, mutate
from treetop.errors import StoreError, TreetopError
from treetop.methods import load
from treetop.runtime import Runtime

__all__ = ["try_mutation"]

TEXTS = ["apple pie", "rain and wind", ""]
PATIENCE = 60


class _TooLong(BaseException):
    """Not an Exception, so that nothing on the way takes it for damage."""


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
    problem = _ask(copy)
    if marker.exists():
        marker.unlink()
        problem = "ran code"
    return f"{model.name}, seed {seed}: {done}{problem}" if problem else ""


def _ask(folder: Path) -> str:
    before = signal.signal(signal.SIGALRM, _stop)
    signal.alarm(PATIENCE)
    faulthandler.dump_traceback_later(2 * PATIENCE, exit=True)
    try:
        loaded = load(folder, runtime=Runtime(threads=1))
    except StoreError:
        return ""
    except _TooLong:
        return "took too long to load"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    else:
        return _predict(loaded)
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _predict(loaded: object) -> str:
    try:
        loaded.predict(TEXTS, k=3)  # type: ignore[attr-defined]
        loaded.describe()  # type: ignore[attr-defined]
    except TreetopError:
        return ""
    except _TooLong:
        return "took too long to predict"
    except BaseException as error:
        return f"when asked, {type(error).__name__}: {str(error)[:200]}"
    return ""


def _stop(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise _TooLong

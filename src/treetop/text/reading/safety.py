"""Is an engine safe on this processor? Asked of a child process, which may die, and remembered.

Some virtual machines announce matrix instructions (AMX) that kill the process when they are used (SIGILL). Then the
engine is asked to do without them, and if that does not help either, it is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

from treetop.store import whole_file
from treetop.text.reading.engines import ENGINES

__all__ = ["cache_folder", "machine_word", "make_safe", "remembered", "survives"]

WITHOUT_AMX = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_FP16"}
ANSWERS = "engines.json"


def make_safe(name: str) -> bool:
    """Whether an engine can be used here; if it needs instructions switched off, they are from now on."""
    settings = _answer(name)
    if settings is None:
        return False
    os.environ.update(settings)
    return True


@cache
def _answer(name: str) -> dict[str, str] | None:
    """Environment variables with which the engine is safe; None if with none."""
    engine = ENGINES[name]
    tries = (settings for settings in ({}, WITHOUT_AMX) if survives(engine.trial, settings))
    return remembered(machine_word(name, engine.packages[0]), lambda: next(tries, None))


def remembered(word: str, ask: Callable[[], dict[str, str] | None]) -> dict[str, str] | None:
    """What is known from before under a word, or asked now."""
    file = cache_folder() / ANSWERS
    known = _known(file)
    if word not in known:
        known[word] = ask()
        with contextlib.suppress(Exception), whole_file(file) as stream:  # a cache that cannot be kept is no loss
            stream.write(json.dumps(known, indent=2) + "\n")
    return known[word]


def _known(file: Path) -> dict[str, dict[str, str] | None]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in found.items() if v in (None, {}, WITHOUT_AMX)} if isinstance(found, dict) else {}


def survives(trial: str, settings: Mapping[str, str]) -> bool:
    """Whether a program ends well in a process of its own, with some environment variables."""
    try:
        command = [sys.executable, "-c", trial]
        result = subprocess.run(command, capture_output=True, timeout=120, check=False, env={**os.environ, **settings})
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0


def machine_word(name: str, package: str) -> str:
    """A word for what is asked about, the package's version and the processor: another is another question."""
    about = platform.processor() + platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        about += "".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))}))
    asked = f"{sys.executable} {os.environ.get('ONEDNN_MAX_CPU_ISA', '')} {about}"
    return f"{name} {version(package)} {hashlib.blake2b(asked.encode(), digest_size=8).hexdigest()}"


def cache_folder() -> Path:
    """Where what is found out on this machine is kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "treetop"

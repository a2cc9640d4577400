"""The kernels, compiled with sanitizers, under their own tests: whatever a sanitizer reports ends the run."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from drills.drill import ROOT

__all__ = ["sanitize"]

_SANITIZERS = {"address,undefined": "asan", "thread": "tsan"}
_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # Python keeps what it needs to its end
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:halt_on_error=1",
}
_NOT_EDITABLE = """import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable_")]
"""
"""What every Python runs at its start here, so that an editable install does not come first."""
_BUILT = ROOT / "build" / "sanitizers"


def sanitize(place: Path, number: int) -> str:
    """Addresses and undefined behaviour in one round, threads in the next."""
    del place
    kind = list(_SANITIZERS)[number % len(_SANITIZERS)]
    return run_tests(kind, os.environ.get("TREETOP_SANITIZED_TESTS", "tests/kernels").split())


def run_tests(kind: str, tests: list[str]) -> str:
    """What a sanitizer reports of the kernels under some tests; nothing if they pass."""
    built = _built(kind)
    paths = [str(built), *(path for path in sys.path if path and Path(path).resolve() not in (ROOT, ROOT / "src"))]
    env = {**os.environ, **_OPTIONS, "LD_PRELOAD": _runtime(kind), "PYTHONPATH": os.pathsep.join(paths)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-s",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    if kind == "thread":  # it wants memory where the system has shuffled other things to
        command = ["setarch", "-R", *command]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{kind}, exit code {done.returncode}: {(done.stdout + done.stderr)[-3000:]}"


@cache
def _built(kind: str) -> Path:
    """A folder with treetop whose kernels are compiled for a sanitizer."""
    folder = _BUILT / _SANITIZERS[kind]
    wheels = folder / "wheel"
    isolated = [] if find_spec("scikit_build_core") and find_spec("nanobind") else ["--build-isolation"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--disable-pip-version-check",
        "-w",
        str(wheels),
    ]
    command += ["--no-build-isolation"] if not isolated else []
    command += ["-C", f"build-dir={folder / 'cmake'}", "-C", f"cmake.define.TREETOP_SANITIZE={kind}", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the kernels cannot be built for {kind}: {(done.stdout + done.stderr)[-2000:]}")
    with zipfile.ZipFile(max(wheels.glob("*.whl"), key=os.path.getmtime)) as wheel:
        wheel.extractall(folder / "package")
    (folder / "package" / "sitecustomize.py").write_text(_NOT_EDITABLE, encoding="utf-8")
    return folder / "package"


def _runtime(kind: str) -> str:
    """The sanitizer's library, which must be there before any other, and C++'s, whose exceptions it follows."""
    compiler = os.environ.get("CXX", "c++")
    name = _SANITIZERS[kind]
    found = [_library(compiler, f"lib{name}.so"), _library(compiler, f"libclang_rt.{name}-x86_64.so")]
    runtime = next((path for path in found if path.is_absolute()), None)
    if runtime is None:
        raise RuntimeError(f"{compiler} has no library for the sanitizer of {kind}")
    return f"{runtime}:{_library(compiler, 'libstdc++.so.6')}"


def _library(compiler: str, name: str) -> Path:
    found = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return Path(found.stdout.strip())

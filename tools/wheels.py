"""Wheels for every supported Python that is found here: built from the sdist, installed afresh, and tested.

python tools/wheels.py                      all of them
python tools/wheels.py --ends               only the oldest and the newest
python tools/wheels.py --neural 3.11        there with torch, so that the tests of encoders run as well

From 3.12 on one wheel serves every Python (the stable ABI). Tests run from the checkout, on the installed wheel.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

__all__ = ["built_by", "candidates", "interpreters", "missing", "tag", "wanted"]

Version: TypeAlias = tuple[int, int]

ROOT = Path(__file__).resolve().parents[1]
SUPPORTED: list[Version] = [(3, minor) for minor in range(10, 14)]
STABLE: Version = (3, 12)
"""From here on Python promises extension modules a stable ABI that nanobind can use."""
IN_A_WHEEL = ("treetop/py.typed", "treetop/kernels/_native", "licenses/LICENSE", "entry_points.txt")


def candidates(version: Version) -> Iterator[str]:
    """Where an interpreter of that version may be: this one, on the path, or among those of pyenv."""
    name = "python{}.{}".format(*version)
    yield sys.executable
    yield shutil.which(name) or ""
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=False).stdout.strip()
        yield from map(str, sorted(Path(root).glob(f"versions/*/bin/{name}"), reverse=True))


def version_of(python: str) -> Version | None:
    """Which Python that is; None if it does not run, as a shim of pyenv that is not switched on."""
    code = "import sys, venv; print(*sys.version_info[:2])"
    try:
        said = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None
    return int(said[0]), int(said[1])


def interpreters() -> dict[Version, str]:
    """The supported versions that are here, oldest first, each with its interpreter."""
    found = {}
    for version in SUPPORTED:
        python = next((path for path in candidates(version) if path and version_of(path) == version), None)
        if python is not None:
            found[version] = python
    return found


def wanted(found: list[Version], *, ends: bool) -> list[Version]:
    """All versions, or only the oldest and the newest."""
    return sorted({found[0], found[-1]}) if ends else found


def built_by(version: Version, found: list[Version]) -> Version:
    """Which version's wheel another one takes: its own, or from the stable ABI on the oldest that has it."""
    return version if version < STABLE else min(other for other in found if other >= STABLE)


def tag(version: Version) -> str:
    """How the wheel built by a version calls itself: interpreter and ABI."""
    name = "cp{}{}".format(*version)
    return f"cp{STABLE[0]}{STABLE[1]}-abi3" if version >= STABLE else f"{name}-{name}"


def missing(wheel: Path) -> list[str]:
    """What a wheel should hold and does not; and sources, which it should not hold."""
    names = zipfile.ZipFile(wheel).namelist()
    absent = [part for part in IN_A_WHEEL if not any(part in name for name in names)]
    return absent + [name for name in names if name.endswith((".cpp", ".hpp"))]


def run(*command: str | Path) -> None:
    """Run in the checkout, with the versions that treetop is tested with; end with what went wrong."""
    print("$", *command, flush=True)
    environment = os.environ | {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    code = subprocess.run([str(part) for part in command], cwd=ROOT, env=environment, check=False).returncode
    if code:
        sys.exit(f"this failed with code {code}: {' '.join(map(str, command))}")


def environment(python: str, place: Path, *packages: str | Path) -> Path:
    """The interpreter of a new virtual environment with some packages."""
    run(python, "-m", "venv", place)
    made = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(made, "-m", "pip", "install", "--quiet", *packages)
    return made


def make_sdist(python: str, work: Path, out: Path) -> Path:
    """The source distribution, which all wheels are built from: what it lacks shows at once."""
    made = environment(python, work / "sdist", "scikit-build-core")
    run(made, "-c", f"from scikit_build_core.build import build_sdist; build_sdist({str(out)!r})")
    return newest(out, "*.tar.gz")


def make_wheel(version: Version, python: str, sdist: Path, work: Path, out: Path) -> Path:
    """A wheel that is complete and has the right name."""
    made = environment(python, work / "build{}{}".format(*version), "pip")
    run(made, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, sdist)
    wheel = newest(out, f"*-{tag(version)}-*.whl")
    if lacks := missing(wheel):
        sys.exit(f"{wheel.name} is not what it should be: {', '.join(lacks)}")
    return wheel


def newest(folder: Path, pattern: str) -> Path:
    """The file that was just made."""
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime)


def check(python: str, wheel: Path, place: Path, extras: str) -> None:
    """Install a wheel where nothing else is, and run the tests on it."""
    made = environment(python, place, f"{wheel}[{extras}]")
    run(made, "-c", f"import treetop; assert treetop.__file__.startswith({str(place)!r}), treetop.__file__")
    run(made, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider")


def main() -> None:
    """Build and test."""
    parser = argparse.ArgumentParser(description="Build and test wheels for the Pythons that are found here.")
    parser.add_argument("--ends", action="store_true", help="only for the oldest and the newest")
    parser.add_argument("--neural", nargs="*", default=[], metavar="X.Y", help="versions to test with torch")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheels go")
    options = parser.parse_args()
    found = interpreters()
    if not found:
        sys.exit(f"no Python from {SUPPORTED[0]} to {SUPPORTED[-1]} was found")
    versions = wanted(list(found), ends=options.ends)
    print("Python", ", ".join("{}.{}".format(*version) for version in versions), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="treetop-wheels-") as folder:
        work = Path(folder).resolve()
        sdist = make_sdist(found[versions[-1]], work, options.out)
        wheels: dict[Version, Path] = {}
        for version in versions:
            builder = built_by(version, versions)
            if builder not in wheels:
                wheels[builder] = make_wheel(builder, found[builder], sdist, work, options.out)
            name = "{}.{}".format(*version)
            extras = "test,plots,neural" if name in options.neural else "test,plots"
            check(found[version], wheels[builder], work / name, extras)


if __name__ == "__main__":
    main()

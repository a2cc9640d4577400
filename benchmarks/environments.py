"""A virtual environment per peer, with pinned versions, made once and kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["PINS", "InstallError", "environment_python", "variables"]

PINS: dict[str, tuple[str, ...]] = {
    "pecos": ("torch==2.13.0", "libpecos==1.2.8"),
    "pecos_transformer": ("torch==2.13.0", "libpecos==1.2.8", "transformers==4.48.3"),
    "omikuji": ("omikuji==0.5.2", "numpy==2.4.6", "scipy==1.17.1"),
    "napkinxc": ("napkinxc==0.7.2", "numpy==2.4.6", "scipy==1.17.1"),
    "libmultilabel": ("torch==2.13.0", "libmultilabel==0.10.0", "setuptools<81"),
    "sklearn": ("scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "annif": ("annif[omikuji]==1.4.3",),
    "fasttext": ("fasttext-numpy2==0.10.4", "numpy==2.4.6", "scipy==1.17.1"),
}
"""What is installed for each peer; treetop itself runs in the environment that runs the benchmarks."""

BARE = {"annif": ("llama-index-core==0.14.25",)}
"""Installed for the data files they carry, without what they need to run."""


class InstallError(Exception):
    """A peer that cannot be installed here; the message says why."""


def environment_python(peer: str, folder: Path) -> str:
    """The Python that has the peer installed; the environment is made if it is not there."""
    if peer not in PINS:
        return sys.executable
    home = folder / peer
    python = home / "bin" / "python"
    if not python.exists():
        _run([sys.executable, "-m", "venv", str(home)])
    done = home / ".pins"
    pins = "\n".join(PINS[peer])
    if not done.exists() or done.read_text() != pins:
        print(f"installing {', '.join(PINS[peer])}", file=sys.stderr)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*install, *PINS[peer]])
        if peer in BARE:
            _run([*install, "--no-deps", *BARE[peer]])
        done.write_text(pins)
    return str(python)


def variables(threads: int, *, own: bool) -> dict[str, str]:
    """The same number of threads for every runtime a peer may bring; only treetop sees our import path."""
    counts = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS")
    kept = {name: value for name, value in os.environ.items() if own or name != "PYTHONPATH"}
    return {**kept, **dict.fromkeys(counts, str(threads)), "PYTHONHASHSEED": "0"}


def _run(command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PIP_CONSTRAINT")}
    finished = subprocess.run(command, capture_output=True, text=True, env=environment)
    if finished.returncode:
        lines = (finished.stderr or finished.stdout).strip().splitlines()
        reason = next(
            (line for line in reversed(lines) if line.lower().startswith("error")), lines[-1] if lines else ""
        )
        raise InstallError(f"does not install: {reason}")

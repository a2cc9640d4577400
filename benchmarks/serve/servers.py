"""The servers that are measured, each a process on a core of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CORE", "Server", "annif", "bare", "pinned", "treetop"]

CORE = 0
_PATIENCE = 180.0
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS")


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    url: str
    process: subprocess.Popen[bytes]

    @property
    def cpu_seconds(self) -> float:
        """User and system time of the process and of those it started."""
        return sum(_cpu_seconds(pid) for pid in _family(self.process.pid))


def pinned(command: Sequence[str], core: int) -> list[str]:
    """The command, on one core."""
    return ["taskset", "--cpu-list", str(core), *command]


@contextmanager
def treetop(model: Path, *options: str) -> Iterator[Server]:
    """`treetop serve`."""
    port = free_port()
    command = [sys.executable, "-m", "treetop", "serve", f"model={model}", "--port", str(port), "--no-keep", *options]
    with _running([*command, "--threads", "1"], port, "/health") as server:
        yield server


@contextmanager
def bare(model: Path) -> Iterator[Server]:
    """A route of Starlette with msgspec around the model and nothing else: what any such service costs at least."""
    port = free_port()
    with _running([sys.executable, "-m", "benchmarks.serve.bare", str(model), str(port)], port, "/health") as server:
        yield server


@contextmanager
def annif(python: Path, home: Path) -> Iterator[Server]:
    """Annif in production, with one worker of gunicorn; NLTK_DATA must lead to what its tokeniser needs."""
    port = free_port()
    kind = "uvicorn.workers.UvicornWorker"
    command = [str(python), "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "-k", kind, "annif:create_cx_app()"]
    with _running(command, port, "/v1/projects", cwd=home, ANNIF_PROJECTS="projects.cfg") as server:
        yield server


@contextmanager
def _running(command: list[str], port: int, path: str, cwd: Path | None = None, **variables: str) -> Iterator[Server]:
    environment = os.environ | dict.fromkeys(_ONE_THREAD, "1") | variables
    process = subprocess.Popen(
        pinned(command, CORE), cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait(f"http://127.0.0.1:{port}{path}", process)
        yield Server(f"http://127.0.0.1:{port}", process)
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE
    while not _answers(url):
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"the server at {url} does not answer")
        time.sleep(0.1)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=_PATIENCE):
            return True
    except (urllib.error.URLError, ConnectionError):
        return False


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _family(pid: int) -> list[int]:
    """The process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in _family(int(child)))]


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

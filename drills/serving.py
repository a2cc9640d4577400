"""A service under load whose models are replaced and whose workers are killed: nobody notices, and nothing is lost."""

from __future__ import annotations

import ctypes
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from drills.drill import MODELS
from treetop.methods import load

__all__ = ["serve_and_kill"]

_CLIENTS, _WORKERS, _PATIENCE = 4, 2, 120.0
_GROWTH, _SPARE = 1.3, 64 << 20
"""How much more memory than at first the workers may have at the end."""


def serve_and_kill(place: Path, number: int, episodes: int = 2, seconds: float = 0.0) -> str:
    """So many times: replace the model, kill a worker; every request and every line of feedback must be there."""
    chance, scratch = Random(number), place / f"service-{number}"
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(MODELS / "xr-linear", scratch / "model")
    service = _Service(scratch)
    try:
        clients = [_Client(service.port, worker) for worker in range(_CLIENTS)]
        before = service.memory()
        for episode in range(episodes):
            service.wait(lambda: all(client.answered > 20 * (episode + 1) for client in clients))  # noqa: B023
            load(MODELS / chance.choice(("xr-linear", "one-vs-all"))).save(scratch / "model")
            victim = chance.choice(service.workers())
            os.kill(victim, signal.SIGKILL)
            service.wait(lambda: victim not in service.workers() and len(service.workers()) == _WORKERS)  # noqa: B023
            service.wait(
                lambda: service.figure("treetop_workers_ready") == _WORKERS
            )  # with none left, who could answer?
            time.sleep(seconds)
        after = service.memory()
        problems = [problem for client in clients for problem in client.end()]
        problems += _unlike(clients, episodes, before, after)
    finally:
        said = service.end()
    return "; ".join([*problems, *_lost(clients, scratch), *([said[-300:]] if "Traceback" in said else [])])[:1000]


def _unlike(clients: list[_Client], episodes: int, before: float, after: float) -> list[str]:
    """What is more than may be: connections that were cut, memory that was taken."""
    cut, most = sum(client.cut for client in clients), episodes * len(clients)
    found = [f"{cut} connections were cut, of {most} that kills explain"] if cut > most else []
    grown = after > _GROWTH * before + _SPARE
    return [*found, *([f"memory went from {before / 2**20:.0f} to {after / 2**20:.0f} MiB"] if grown else [])]


def _lost(clients: list[_Client], scratch: Path) -> list[str]:
    """Feedback that was confirmed and is not there; and lines that are none."""
    files = sorted((scratch / "feedback" / "model").glob("*.jsonl"))
    there = {json.loads(line)["id"] for file in files for line in file.read_text().splitlines()}
    lost = [name for client in clients for name in client.kept if name not in there]
    return [f"{len(lost)} of {sum(len(client.kept) for client in clients)} lines of feedback are lost"] if lost else []


class _Client:
    """Asks and gives feedback in turns, on a connection that stays open, and asks again where it was cut."""

    def __init__(self, port: int, number: int) -> None:
        self.port, self.number, self.answered, self.cut = port, number, 0, 0
        self.kept: list[str] = []
        self._problems: list[str] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def end(self) -> list[str]:
        """Stop; what went wrong."""
        self._ended.set()
        self._thread.join(_PATIENCE)
        return self._problems

    def _work(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        while not self._ended.is_set():
            text = f"apple pie {self.number} {self.answered}"
            status, _ = self._ask(connection, "/v1/suggest", {"texts": [text]})
            kept, answer = self._ask(connection, "/v1/feedback", {"text": text, "added": ["pie"]})
            self.kept += [answer["id"]] if kept == 201 else []
            self.answered += 1
            if (status, kept) != (200, 201):
                self._problems.append(f"status {status} and {kept}")

    def _ask(self, connection: http.client.HTTPConnection, path: str, body: Any) -> tuple[int, Any]:
        """The answer; a cut connection is opened again, twice in a row it must not be cut."""
        for _ in range(2):
            status, answer = _try(connection, path, body)
            if status:
                return status, answer
            self.cut += 1
        return 0, answer


def _try(connection: http.client.HTTPConnection, path: str, body: Any) -> tuple[int, Any]:
    """Status and answer; status 0 if the connection was cut."""
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return 0, repr(error)


class _Service:
    """`treetop serve` with workers, which ends when this process does."""

    def __init__(self, scratch: Path) -> None:
        command = [sys.executable, "-m", "treetop", "serve", "model", "--port", "0", "--workers", str(_WORKERS)]
        self._log = (scratch / "log").open("w+")
        self.process = subprocess.Popen(command, cwd=scratch, stderr=self._log, preexec_fn=_end_with_the_parent)
        self.port = 0
        self.wait(self._listens)

    def _listens(self) -> bool:
        found = re.search(r" at http://127\.0\.0\.1:(\d+)", self._said())
        self.port = int(found[1]) if found else 0
        return bool(found)

    def _said(self) -> str:
        return Path(self._log.name).read_text()

    def wait(self, true: Callable[[], bool]) -> None:
        """Until something is true."""
        end = time.monotonic() + _PATIENCE
        while not true():
            if time.monotonic() > end or self.process.poll() is not None:
                raise TimeoutError(f"nothing happened; the service said {self._said()[-300:]}")
            time.sleep(0.02)

    def workers(self) -> list[int]:
        """The processes that serve."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(child) for child in children if b"spawn_main" in _command(child)]

    def figure(self, name: str) -> float:
        """A number of its metrics."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        connection.request("GET", "/metrics")
        found = re.search(rf"^{name} (\S+)$", connection.getresponse().read().decode(), re.M)
        connection.close()
        return float(found[1]) if found else 0.0

    def memory(self) -> float:
        """Resident bytes of all workers."""
        pages = [Path(f"/proc/{worker}/statm").read_text().split()[1] for worker in self.workers()]
        return float(sum(map(int, pages)) * os.sysconf("SC_PAGE_SIZE"))

    def end(self) -> str:
        """Stop it; all that it said."""
        self.process.terminate()
        self.process.wait(_PATIENCE)
        said = self._said()
        self._log.close()
        return said


def _command(process: str) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _end_with_the_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG

"""A service under load whose models are replaced and whose workers are killed: nobody notices, and nothing is lost.

The service, its clients and one worker live from the first round to the last; in each round the model is replaced and
another worker is killed. `--rounds 20` of 90 seconds are half an hour.
"""

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
from functools import cache
from pathlib import Path
from typing import Any

from drills.drill import MODELS, Facts
from treetop.apps.serve.model import version_of
from treetop.methods import load

__all__ = ["UnderLoad", "about_the_service", "serve_and_kill"]

_CLIENTS, _WORKERS, _PATIENCE = 4, 3, 120.0
_PACE = 0.05
"""Seconds from a client's request for suggestions to its next: a load that leaves room for others on the machine."""
_SPELL = 90.0
"""Seconds of a round, at least."""
_GROWTH, _SPARE = 1.05, 8 << 20
"""How much more memory than after its first round the worker that is never killed may hold."""


def serve_and_kill(place: Path, number: int) -> str:
    """Replace the model, kill a worker; every request and every line of feedback must be there."""
    return _under_load(place).round(number, _SPELL)


def about_the_service() -> Facts:
    """What has come of all rounds of this process."""
    return _SERVED[-1].facts()


_SERVED: list[UnderLoad] = []


@cache
def _under_load(place: Path) -> UnderLoad:
    _SERVED.append(UnderLoad(place))
    return _SERVED[-1]


class UnderLoad:
    """A service and its clients."""

    def __init__(self, place: Path) -> None:
        self.scratch = place / "service"
        shutil.copytree(MODELS / "xr-linear", self.scratch / "model")
        self.service = _Service(self.scratch)
        self.lasting = self.service.workers()[0]
        self.clients = [_Client(self.service.port, number) for number in range(_CLIENTS)]
        self.first = self.now = self.cut = 0

    def round(self, number: int, spell: float) -> str:
        """One model, one worker, and what went wrong in so many seconds."""
        end = time.monotonic() + spell
        self.replace_model(number)
        self.kill_worker(number)
        time.sleep(max(0.0, end - time.monotonic()))
        self.answer_more()
        problems = self.problems()
        return f"round {number}: {'; '.join(problems)}"[:1000] if problems else ""

    def facts(self) -> Facts:
        """How much was asked and kept, and what the worker that is never killed holds."""
        return {
            "requests": 2 * sum(client.answered for client in self.clients),
            "feedback lines": sum(len(client.kept) for client in self.clients),
            "connections cut": sum(client.cut for client in self.clients),
            "bytes after the first round": self.first, "bytes at the end": self.now,
        }  # fmt: skip

    def end(self) -> None:
        """Clients first, then the service."""
        for client in self.clients:
            client.end()
        self.service.end()

    def replace_model(self, number: int) -> None:
        """Another model takes the place of the one that is served, and is served."""
        folder = self.scratch / "model"
        load(MODELS / ("one-vs-all", "xr-linear")[number % 2]).save(folder)
        self.service.wait(lambda: self.service.version() == version_of(folder))

    def kill_worker(self, number: int) -> None:
        """A worker dies, and another takes its place."""
        young = [worker for worker in self.service.workers() if worker != self.lasting]
        victim = young[number % len(young)]
        os.kill(victim, signal.SIGKILL)
        self.service.wait(lambda: victim not in self.service.workers() and len(self.service.workers()) == _WORKERS)
        self.service.wait(lambda: self.service.figure("treetop_workers_ready") == _WORKERS)

    def answer_more(self) -> None:
        """Every client is answered once more, so that it is seen whether all goes on."""
        before = [client.answered for client in self.clients]
        self.service.wait(lambda: all(now.answered > then for now, then in zip(self.clients, before, strict=True)))

    def problems(self) -> list[str]:
        """What has gone wrong in this round."""
        return [
            *(problem for client in self.clients for problem in client.told()),
            *self._cut(), *self._grown(), *self._lost(), *self._said(),
        ]  # fmt: skip

    def _cut(self) -> list[str]:
        """A killed worker may hold a request of each client, not more."""
        before, self.cut = self.cut, sum(client.cut for client in self.clients)
        more = self.cut - before
        return [f"{more} connections were cut, {_CLIENTS} at most are the kill's"] if more > _CLIENTS else []

    def _grown(self) -> list[str]:
        self.now = _resident(self.lasting)
        self.first = self.first or self.now
        grown = self.now > _GROWTH * self.first + _SPARE
        return [f"a worker grew from {self.first / 2**20:.0f} to {self.now / 2**20:.0f} MiB"] if grown else []

    def _lost(self) -> list[str]:
        """Feedback that was confirmed and is not there; and lines that are none."""
        confirmed = {name for client in self.clients for name in tuple(client.kept)}
        files = sorted((self.scratch / "feedback" / "model").glob("*.jsonl"))
        whole = (file.read_text().rpartition("\n")[0] for file in files)  # the last line may just be written
        lost = confirmed - {json.loads(line)["id"] for text in whole for line in text.splitlines()}
        return [f"{len(lost)} of {len(confirmed)} lines of feedback are lost"] if lost else []

    def _said(self) -> list[str]:
        said = self.service.said()
        return [said[-300:]] if "Traceback" in said else []


class _Client:
    """Asks and gives feedback in turns, on a connection that stays open, and asks again where it was cut."""

    def __init__(self, port: int, number: int) -> None:
        self.port, self.number, self.answered, self.cut = port, number, 0, 0
        self.kept: list[str] = []
        self._problems: list[str] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Ask no more."""
        self._ended.set()
        self._thread.join(_PATIENCE)

    def told(self) -> list[str]:
        """What went wrong since this was last asked."""
        found, self._problems = self._problems, []
        return found

    def _work(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        while not self._ended.wait(_PACE):
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
        self._log = scratch / "log"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(command, cwd=scratch, stderr=log, preexec_fn=_end_with_the_parent)
        self.port = 0
        self.wait(self._listens)

    def _listens(self) -> bool:
        found = re.search(r" at http://127\.0\.0\.1:(\d+)", self.said())
        self.port = int(found[1]) if found else 0
        return bool(found)

    def said(self) -> str:
        """What it has written to its log."""
        return self._log.read_text()

    def wait(self, true: Callable[[], bool]) -> None:
        """Until something is true."""
        end = time.monotonic() + _PATIENCE
        while not true():
            if time.monotonic() > end or self.process.poll() is not None:
                raise TimeoutError(f"nothing happened; the service said {self.said()[-300:]}")
            time.sleep(0.1)

    def end(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait(_PATIENCE)

    def workers(self) -> list[int]:
        """The processes that serve, the oldest first."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(child) for child in children if b"spawn_main" in _command(child)]

    def version(self) -> str:
        """Of the model that is served."""
        found: str = json.loads(self._get("/v1/models"))["models"][0]["version"]
        return found

    def figure(self, name: str) -> float:
        """A number of its metrics."""
        found = re.search(rf"^{name} (\S+)$", self._get("/metrics"), re.M)
        return float(found[1]) if found else 0.0

    def _get(self, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()


def _command(process: str) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _resident(process: int) -> int:
    """Bytes that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _end_with_the_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG

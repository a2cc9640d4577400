"""Services as tests run them: the real server, in a thread of this process or as a program of its own."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from treetop.apps.serve.service import Service
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.sockets import address, listen
from treetop.apps.serve.worker import Worker, new_table

PATIENCE = 60.0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """What went wrong, which must be told in the right form."""
        assert self.headers["content-type"] == "application/problem+json", self
        said = self.json
        assert said["status"] == self.status
        assert said["title"]
        return str(said["detail"])


@dataclass
class Asker:
    """Asks a service, a connection for each request."""

    url: str

    def raw(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.raw("GET", path, None, headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.raw("POST", path, json.dumps(body).encode(), {"content-type": "application/json"} | headers)

    def suggest(self, *texts: str, **more: Any) -> Answer:
        return self.post("/v1/suggest", {"texts": texts, **more})


@dataclass
class Served(Asker):
    service: Service
    worker: Worker


@contextmanager
def served(models: dict[str, Path], settings: Settings | None = None) -> Iterator[Served]:
    """The real server in a thread, at a free port."""
    settings = settings or Settings(port=0, feedback=None, threads=1)
    table = new_table(models, 1)
    worker = Worker(settings, models, table)
    with listen(settings) as listening:
        thread = threading.Thread(target=worker.run, args=([listening],))
        thread.start()
        try:
            until(lambda: worker.ready or worker.failure)
            yield Served(address(listening), worker.service, worker)
        finally:
            worker.stop()
            thread.join(PATIENCE)
            table.unlink()
    assert not thread.is_alive()


def until(true: Callable[[], Any]) -> None:
    """Wait for something to become true; it is a failure if that takes unreasonably long."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


class Program(Asker):
    """`treetop serve` as a program of its own."""

    def __init__(self, *arguments: str | Path, cwd: Path, ready: bool = True) -> None:
        command = [sys.executable, "-m", "treetop", "serve", *map(str, arguments), "--port", "0", "--threads", "1"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=cwd)
        self.lines: list[str] = []
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()
        if ready:
            until(lambda: " at http" in self.said or self.process.poll() is not None)
            assert " at http" in self.said, self.said
        found = self.said.partition(" at http")[2].split()
        super().__init__(f"http{found[0]}" if found else "")

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(iter(self.process.stderr.readline, ""))

    @property
    def said(self) -> str:
        return "".join(self.lines)

    @property
    def pid(self) -> int:
        return self.process.pid

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def patient(self, text: str) -> int:
        """The status of a suggestion, asked for again where a connection is lost."""
        found: list[int] = []

        def asked() -> bool:
            with suppress(OSError, http.client.HTTPException):
                found.append(self.suggest(text).status)
            return bool(found)

        until(asked)
        return found[0]

    def wait(self) -> int:
        code = self.process.wait(PATIENCE)
        self._reading.join(PATIENCE)
        return code

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.wait()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)
        assert self.process.stderr is not None
        self._reading.join(PATIENCE)
        self.process.stderr.close()

"""Services as tests run them: the real server, in a thread of this process or as a program of its own."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from treetop.apps.serve.server import address, listen, make_server, make_service
from treetop.apps.serve.service import Service
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.shelf import Shelf
from treetop.runtime import Runtime

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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Served(Asker):
    service: Service


@contextmanager
def served(models: dict[str, Path], settings: Settings | None = None) -> Iterator[Served]:
    """The real server in a thread, at a free port."""
    settings = settings or Settings(port=0, feedback=None)
    shelf = Shelf(models, Runtime(threads=1))
    shelf.load()
    service = make_service(shelf, settings)
    server = make_server(service)
    with listen(settings) as listening:
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            until(lambda: server.started)
            yield Served(address(listening), service)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
    assert not thread.is_alive()


def until(true: Callable[[], Any]) -> None:
    """Wait for something to become true; it is a failure if that takes unreasonably long."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)

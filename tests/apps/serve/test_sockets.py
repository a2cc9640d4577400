"""Listening."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import processes
from serving import Program, until
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.sockets import address, listen, own
from treetop.errors import ConfigError

ONE, TWO = Settings(port=0), Settings(port=0, workers=2)


@pytest.mark.parametrize("settings", [ONE, TWO])
def test_a_free_port_is_found_and_told(settings: Settings) -> None:
    with listen(settings) as listening:
        assert address(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("first", [ONE, TWO])
@pytest.mark.parametrize("second", [ONE, TWO])
def test_a_port_that_is_taken_is_one_clear_line(first: Settings, second: Settings) -> None:
    with listen(first) as listening, own(listening), pytest.raises(ConfigError, match=r"already in use.*--port"):
        listen(replace(second, port=listening.getsockname()[1]))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers share a socket")
def test_workers_have_connections_alike(plain_folder: Path, tmp_path: Path) -> None:
    with Program(plain_folder, "--workers", "2", cwd=tmp_path) as service:
        before = [sockets(worker) for worker in processes.workers(service.pid)]
        place = urlsplit(service.url)
        opened = [socket.create_connection((place.hostname, place.port), timeout=60) for _ in range(60)]

        def each() -> list[int]:
            now = [sockets(worker) for worker in processes.workers(service.pid)]
            return [after - first for after, first in zip(now, before, strict=True)]

        until(lambda: sum(each()) == len(opened))
        assert min(each()) >= 10
        for one in opened:
            one.close()


def sockets(process: int) -> int:
    """How many a process has open."""
    found = 0
    for one in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # a file that was open for a moment
            found += os.readlink(one).startswith("socket:")
    return found

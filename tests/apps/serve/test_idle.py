"""Clients that connect and say nothing, or stop in the middle."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from serving import Served, served
from treetop.apps.serve.settings import Settings


@pytest.fixture(scope="module")
def impatient(plain_folder: Path) -> Iterator[Served]:
    with served({"plain": plain_folder}, replace(Settings(port=0, threads=1, feedback=None), deadline=0.5)) as service:
        yield service


def connected(service: Served) -> socket.socket:
    place = urlsplit(service.url)
    return socket.create_connection((place.hostname, place.port), timeout=60)


@pytest.mark.parametrize("begun", [b"", b"POST /v1/sug", b"POST /v1/suggest HTTP/1.1\r\nHost: a\r\nContent-Ty"])
def test_headers_that_never_end(begun: bytes, impatient: Served) -> None:
    with connected(impatient) as client:
        client.sendall(begun)
        assert client.recv(1000) == b""
    assert impatient.get("/health").status == 200


def test_a_body_that_never_ends_is_told_so(impatient: Served) -> None:
    head = b"POST /v1/suggest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    with connected(impatient) as client:
        client.sendall(head)
        said = client.makefile("rb").read()
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"application/problem+json" in said
    assert b"did not arrive" in said


LONG_WAY = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
SHORT_CUT = (
    b"POST /v1/suggest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n"
    b'{"texts": ["a"]}'
)


@pytest.mark.parametrize("request_", [LONG_WAY, SHORT_CUT])
def test_an_idle_connection_between_requests_stays(request_: bytes, impatient: Served) -> None:
    with connected(impatient) as client:
        for _ in range(2):
            client.sendall(request_)
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
            client.settimeout(2)
            with pytest.raises(TimeoutError):
                client.recv(1)


@pytest.mark.parametrize("first", [LONG_WAY, SHORT_CUT])
def test_headers_that_never_end_behind_a_request(first: bytes, impatient: Served) -> None:
    with connected(impatient) as client:
        client.sendall(first)
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.sendall(b"POST /v1/sug")
        assert client.recv(1000) == b""


@pytest.mark.parametrize("first", [LONG_WAY, SHORT_CUT])
def test_a_connection_that_is_idle_for_long_is_closed(first: bytes, impatient: Served) -> None:
    with connected(impatient) as client:
        client.sendall(LONG_WAY)
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        connections: Any = impatient.worker.server.server_state.connections
        for connection in connections:
            connection.timeout_keep_alive = 0
        client.sendall(first)
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        assert client.recv(1000) == b""

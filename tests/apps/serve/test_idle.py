"""Clients that connect and say nothing, or stop in the middle."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
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


def test_an_idle_connection_between_requests_stays(impatient: Served) -> None:
    with connected(impatient) as client:
        for _ in range(2):
            client.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
            client.settimeout(2)
            with pytest.raises(TimeoutError):
                client.recv(1)

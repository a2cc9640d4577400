"""The short cut for requests that are there as a whole: the same answers, and none for what is to be refused."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from serving import Answer, Served, served
from treetop.apps.serve.app import Application
from treetop.apps.serve.settings import Settings

SETTINGS = Settings(port=0, threads=1, feedback=None)


class Connection:
    """A connection that bytes are sent on as a test wants them."""

    def __init__(self, service: Served) -> None:
        place = urlsplit(service.url)
        self.socket = socket.create_connection((place.hostname, place.port), timeout=60)
        self.file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self) -> Answer:
        status = int(self.file.readline().split()[1])
        headers = http.client.parse_headers(self.file)
        body = self.file.read(int(headers["content-length"]))
        return Answer(status, {name.lower(): value for name, value in headers.items()}, body)


@contextmanager
def connected(service: Served) -> Iterator[Connection]:
    connection = Connection(service)
    with connection.socket:
        yield connection


def request(*texts: str, headers: str = "", **more: object) -> bytes:
    body = json.dumps({"texts": texts, **more}).encode()
    head = f"POST /v1/suggest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n{headers}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each request that was held was answered by the short cut."""
    taken: list[bool] = []
    at_once = Application.at_once

    def watched(self: Application, path: bytes, headers: list[tuple[bytes, bytes]], body: bytes) -> bytes | None:
        found = at_once(self, path, headers, body)
        taken.append(found is not None)
        return found

    monkeypatch.setattr(Application, "at_once", watched)
    return taken


def test_both_ways_say_the_same(service: Served, short: list[bool]) -> None:
    with connected(service) as connection:
        whole = request("topic1 word1x1x0", k=3)
        connection.send(whole)
        quick = connection.answer()
        assert short == [True]
        connection.send(whole[:-5])
        service.get("/health")  # so that what was sent has been read
        connection.send(whole[-5:])
        slow = connection.answer()
        assert short == [True]
    assert (quick.status, quick.body) == (slow.status, slow.body)
    assert {**quick.headers, "date": ""} == {**slow.headers, "date": ""}


def test_requests_one_behind_the_other_are_answered_in_their_order(service: Served, short: list[bool]) -> None:
    """Only the first takes the short cut: others are not to wait for all of them."""
    with connected(service) as connection:
        connection.send(
            request("topic1", k=1)
            + request("topic2", k=2, explain=True)
            + request("topic3", k=3)
            + request("topic4", k=4)
        )
        answers = [connection.answer().json["results"][0]["suggestions"] for _ in range(4)]
        connection.send(request("topic5", k=5))
        answers.append(connection.answer().json["results"][0]["suggestions"])
    assert [len(found) for found in answers] == [1, 2, 3, 4, 5]
    assert [bool(found[0]["explanation"]) for found in answers] == [False, True, False, False, False]
    assert short == [True, True]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (request("a", k=0), 422),
        (request("a", labels=["no such"]), 422),
        (request("a", model="no such"), 404),
        (request("a").replace(b"/json", b"/text"), 415),
        (request("a").replace(b'{"', b"{!"), 400),
        (request("a").replace(b"POST", b"PUT"), 405),
        (request("a").replace(b"suggest", b"suggests"), 404),
    ],
)
def test_refusals_come_from_the_long_way_and_the_connection_lives_on(
    sent: bytes, status: int, service: Served, short: list[bool]
) -> None:
    with connected(service) as connection:
        connection.send(sent)
        answer = connection.answer()
        assert answer.status == status
        assert answer.problem
        assert True not in short
        connection.send(request("topic1"))
        assert connection.answer().status == 200


def test_whoever_wants_no_more_is_let_go(service: Served) -> None:
    with connected(service) as connection:
        connection.send(request("topic1", headers="Connection: close\r\n"))
        assert connection.answer().headers["connection"] == "close"
        assert connection.socket.recv(1) == b""


def test_whoever_waits_to_be_let_send_is_told_to(service: Served) -> None:
    with connected(service) as connection:
        head, _, body = request("topic1", headers="Expect: 100-continue\r\n").partition(b"\r\n\r\n")
        connection.send(head + b"\r\n\r\n")
        assert connection.socket.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.send(body)
        assert connection.answer().status == 200


def test_what_is_counted_and_asked_for_is_the_same(plain_folder: Path, tmp_path: Path, short: list[bool]) -> None:
    keys = tmp_path / "keys"
    keys.write_text("a-key-of-some-length\n")
    with served({"plain": plain_folder}, replace(SETTINGS, keys=keys, body_limit=200)) as service:
        key = "X-API-Key: a-key-of-some-length\r\n"
        for headers, text in (("", "a"), (key, "a" * 200), (key, "topic1")):
            with connected(service) as connection:
                connection.send(request(text, headers=headers))
                connection.answer()
        assert short == [False, False, True]
        total = service.service.watch.counts.total
        assert [total(("requests", "/v1/suggest", status)) for status in (200, 401, 413)] == [1, 1, 1]
        assert total(("texts", "plain")) == 1


def test_other_sites_pages_get_their_headers(plain_folder: Path, short: list[bool]) -> None:
    with served({"plain": plain_folder}, replace(SETTINGS, origins=("https://there.example",))) as service:
        answer = service.suggest("topic1")
        allowed = service.raw(
            "POST", "/v1/suggest", b'{"texts": []}',
            {"content-type": "application/json", "origin": "https://there.example"},
        ).headers["access-control-allow-origin"]  # fmt: skip
    assert (answer.status, allowed, short) == (200, "https://there.example", [])


def test_whoever_asks_and_asks_and_never_reads_keeps_nobody_waiting(service: Served) -> None:
    with connected(service) as connection:
        connection.socket.setblocking(False)
        with suppress(BlockingIOError):  # the only way out
            while True:
                connection.socket.send(request("topic1", k=1000) * 100)
        for _ in range(5):
            assert service.suggest("topic1").status == 200

"""The client, against real services."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import treetop
from serving import served
from treetop.apps.serve.settings import Settings
from treetop.data import Dataset
from treetop.errors import ConfigError, ServiceError
from treetop.methods.xr_linear import XRLinear


@pytest.fixture(scope="module")
def url(toy_train: Dataset, toy_test: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("client")
    XRLinear().fit(toy_train).calibrate(toy_test).save(folder / "toy")
    with served({"toy": folder / "toy"}, Settings(port=0, threads=1, feedback=folder / "feedback")) as service:
        yield service.url


def test_suggestions(url: str) -> None:
    client = treetop.Client(url)
    best = client.suggest("topic1 word1x2x0", 3)
    assert len(best) == 3
    assert best[0].label.startswith("label 1-")
    assert best[0].score == best[0].probability
    assert client.suggest("topic1", labels=["label 1-2"])[0].label == "label 1-2"


def test_many_texts_come_back_in_order_and_are_not_read_ahead(url: str) -> None:
    taken = 0

    def texts() -> Iterator[str]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield f"topic{number % 6}"

    client = treetop.Client(url)
    found = client.suggest_all(texts(), 1, batch=10)
    tops = [next(found)[0].label for _ in range(12)]
    assert taken == 20
    assert [label.split("-")[0] for label in tops] == [f"label {number % 6}" for number in range(12)]
    assert len(list(client.suggest_all(["topic1"] * 25, 1, batch=10))) == 25


def test_many_texts_are_explained_as_few_at_a_time_as_a_service_explains(url: str) -> None:
    from treetop.apps.serve.messages import MOST_EXPLAINED
    from treetop.client import _MOST_EXPLAINED

    assert _MOST_EXPLAINED == MOST_EXPLAINED
    found = list(treetop.Client(url).suggest_all(["topic1 word1x2x0"] * 15, 10, explain=True))
    assert sum(map(len, found)) > MOST_EXPLAINED
    assert all(one.explanation for suggestions in found for one in suggestions)


def test_everything_else(url: str) -> None:
    client = treetop.Client(url + "/")
    assert [model["name"] for model in client.models()] == ["toy"]
    assert client.labels("label 2-", limit=3)[0]["label"].startswith("label 2-")
    assert client.feedback("a text", accepted=["label 1-1"], user="ada")
    assert client.health()["status"] == "UP"
    client.close()
    client.close()
    assert repr(client) == f"Client('{url}')"


def test_mistakes_say_what_to_do(url: str) -> None:
    client = treetop.Client(url)
    with pytest.raises(ServiceError, match=r"there is no model of that name.*field model") as refused:
        client.suggest("a", model="none")
    assert refused.value.status == 404
    with pytest.raises(ConfigError, match="no address"):
        treetop.Client("localhost:8000")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ServiceError, match="does not answer"):
        treetop.Client(f"http://127.0.0.1:{port}", patience=0.0).models()


@contextmanager
def answers(*prepared: bytes) -> Iterator[str]:
    """A server that gives these answers, each on a connection of its own; none: it hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for answer in prepared:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(60)


GOOD = b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\n{"models":[]}'
BUSY = b"HTTP/1.1 429 Too Many\r\nRetry-After: 0\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
LOST = b""


def test_a_busy_service_and_a_lost_connection_are_asked_again() -> None:
    with answers(BUSY, LOST, BUSY, GOOD) as url:
        assert treetop.Client(url).models() == []


def test_patience_ends() -> None:
    with answers(BUSY.replace(b"After: 0", b"After: 900")) as url, pytest.raises(ServiceError) as busy:
        treetop.Client(url, patience=5).models()
    assert busy.value.status == 429


def test_what_is_no_service_of_ours() -> None:
    page = b"HTTP/1.1 418 Teapot\r\nContent-Length: 3\r\nConnection: close\r\n\r\n<p>"
    with answers(page) as url, pytest.raises(ServiceError, match="is this a treetop service"):
        treetop.Client(url).models()


def test_the_standard_library_is_all_it_takes(tmp_path: Path) -> None:
    code = (
        "import sys, treetop; treetop.Client('http://localhost:1')\n"
        "heavy = {'numpy', 'scipy', 'polars', 'msgspec', 'starlette', 'requests'} & sys.modules.keys()\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@contextmanager
def answering(*answers: bytes) -> Iterator[str]:
    """The address of something that gives these answers, whatever it is asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            for one in answers:
                connection, _ = server.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(one)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(10)


def said(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@pytest.mark.parametrize(
    "answer",
    [
        said(b""), said(b"<html>"), said(b"[]"), said(b"{}"), said(b"[" * 100_000), said(b"\xff"),
        said(b'{"results": 1}'),
        said(b'{"results": [{"suggestions": [1]}]}'), said(b'{"results": []}'), said(b"no", "404 Not Found"),
        said(b"[" * 100_000, "500 Oh"), said(b"", "429 Later", "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT"),
        said(b"", "503 Later", "Retry-After: inf"), said(b"", "429 Later", "Retry-After: -1"),
        b"", b"\0" * 100, b"HTTP/1.1 ",
    ],
)  # fmt: skip
def test_answers_that_are_not_those_of_a_service(answer: bytes) -> None:
    with answering(answer) as url:
        client = treetop.Client(url, patience=0.0, timeout=10)
        with pytest.raises(ServiceError, match=url):
            client.suggest("a")
        client.close()


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treetop.client._LARGEST", 1000)
    endless = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b" " * 200_000
    with answering(endless) as url, pytest.raises(ServiceError, match="more than 1,000 bytes"):
        treetop.Client(url, patience=0.0, timeout=10).models()


@pytest.mark.parametrize(
    "url", ["http://[", "http://a:b", "http://a:99999999", "http://a b", "http://", "http://ü.x/\n"]
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ConfigError, match="no address"):
        treetop.Client(url)


def test_keys_that_cannot_be_sent() -> None:
    with pytest.raises(ConfigError, match="a key has"):
        treetop.Client("http://127.0.0.1:1", key="a\r\nb: c")

"""From bytes to typed values: what does not fit gets the right status, and the service keeps answering."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
from typing import Any
from urllib.parse import urlsplit

import pytest

from serving import Served
from treetop.apps.serve.endpoint import Endpoint, Handler

JSON = "application/json"
SECRET = "sec" + "ret"

WRONG: dict[str, tuple[int, bytes, str]] = {
    "not JSON": (400, b"texts=1", JSON),
    "nothing": (400, b"", JSON),
    "not UTF-8": (400, b'{"texts": ["\xff"]}', JSON),
    "half a surrogate pair": (400, b'{"texts": ["\\ud83d"]}', JSON),
    "a surrogate in UTF-8": (400, b'{"texts": ["\xed\xa0\xbd"]}', JSON),
    "too deep": (422, b'{"texts": ' + b"[" * 5000, JSON),
    "a list": (422, b"[]", JSON),
    "a wrong type": (422, b'{"texts": "one"}', JSON),
    "an unknown field": (422, b'{"texts": [], "topk": 3}', JSON),
    "k of 0": (422, b'{"texts": ["a"], "k": 0}', JSON),
    "k of a billion": (422, b'{"texts": ["a"], "k": 1000000000}', JSON),
    "an unknown model": (404, b'{"texts": ["a"], "model": "tpy"}', JSON),
    "an unknown label": (422, b'{"texts": ["a"], "labels": ["label 9-9"]}', JSON),
    "no labels": (422, b'{"texts": ["a"], "labels": []}', JSON),
    "an unknown aim": (422, b'{"texts": ["a"], "threshold": "best"}', JSON),
    "too many texts": (422, json.dumps({"texts": [""] * 1001}).encode(), JSON),
    "a million texts": (413, json.dumps({"texts": [""] * 1_000_000}).encode(), JSON),
    "a text of 10 MB": (413, json.dumps({"texts": ["a" * 10_000_000]}).encode(), JSON),
    "a form": (415, b"texts=one", "application/x-www-form-urlencoded"),
    "no content type": (415, b'{"texts": []}', ""),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_requests_get_the_right_status(wrong: str, service: Served) -> None:
    status, body, kind = WRONG[wrong]
    answer = service.raw("POST", "/v1/suggest", body, {"content-type": kind} if kind else {})
    assert answer.status == status, answer
    assert answer.problem
    assert service.suggest("topic1").status == 200


def test_the_field_is_named(service: Served) -> None:
    answer = service.post("/v1/suggest", {"texts": ["a", 7]})
    assert (answer.status, answer.json["field"]) == (422, "texts[1]")


def test_wrong_methods_are_told_the_right_ones(service: Served) -> None:
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        answer = service.raw(method, "/v1/suggest")
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
        assert "not possible" in answer.problem


def test_bad_queries(service: Served) -> None:
    for query in ("limit=0", "limit=x", "limit=99999999999999999999", "surprise=1", "query=%ff", "query=%ed%a0%80"):
        assert service.get(f"/v1/labels?{query}").status in (400, 422), query


def test_a_body_without_a_length_is_measured_as_it_comes(service: Served) -> None:
    connection = http.client.HTTPConnection(urlsplit(service.url).netloc, timeout=60)
    chunks = (b"x" * 65536 for _ in range(100))
    connection.request("POST", "/v1/suggest", chunks, {"content-type": JSON}, encode_chunked=True)
    assert connection.getresponse().status == 413


@pytest.mark.parametrize(
    "more",
    [{"k": 0}, {"labels": [SECRET]}, {"model": SECRET}, {"threshold": SECRET}, {"surprise": SECRET}, {"k": SECRET}, {}],
)
def test_nothing_of_a_text_is_logged(more: dict[str, Any], service: Served, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        service.suggest(SECRET, **more)
        service.suggest(SECRET, explain=True, **more)
        service.post("/v1/feedback", {"text": SECRET, **more})
        service.raw("POST", "/v1/suggest", f'{{"texts": ["{SECRET}"'.encode(), {"content-type": JSON})
    assert SECRET not in caplog.text


async def _fail(service: Any, asked: Any) -> None:
    raise RuntimeError(f"about a {SECRET} text")


def test_what_nobody_expected_is_told_without_the_text(service: Served, caplog: pytest.LogCaptureFixture) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    handler = Handler(Endpoint("GET", "/health", _fail, ""), service.service)
    scope: Any = {"type": "http", "method": "GET", "path": "/broken", "headers": []}
    with caplog.at_level(logging.ERROR, "treetop.serve"):
        asyncio.run(handler(scope, receive, send))
    assert sent[0]["status"] == 500
    assert "RuntimeError" in caplog.text
    assert "_fail" in caplog.text
    assert SECRET not in caplog.text + str(sent)

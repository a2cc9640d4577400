"""Problems name the field, and never repeat what was in it."""

from __future__ import annotations

import json
from http import HTTPStatus

import msgspec
import pytest

from treetop.apps.serve.messages import SuggestRequest
from treetop.apps.serve.problems import ProblemError, bad_json, of_treetop
from treetop.errors import DataError


def refusal(body: bytes) -> ProblemError:
    with pytest.raises((msgspec.DecodeError, UnicodeError)) as caught:
        msgspec.json.decode(body, type=SuggestRequest)
    return bad_json(caught.value)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b'{"texts": ["secret", 1]}', 422, "texts[1]"),
        (b'{"texts": ["secret"], "k": 0}', 422, "k"),
        (b'{"texts": ["secret"], "surprise": 0}', 422, "surprise"),
        (b'{"k": 1}', 422, "texts"),
        (b'["secret"]', 422, None),
        (b'{"texts": ["secret', 400, None),
        (b'{"texts": ["secret \\ud800"]}', 400, None),
        (b'{"texts": ["secret \xff"]}', 400, None),
        (b"", 400, None),
    ],
)
def test_what_is_wrong_with_a_body(body: bytes, status: int, field: str | None) -> None:
    problem = json.loads(refusal(body).body())
    assert (problem["status"], problem["field"]) == (status, field)
    assert problem["detail"]
    assert "secret" not in json.dumps(problem)


def test_what_the_library_refuses_is_the_fault_of_the_request() -> None:
    problem = json.loads(of_treetop(DataError("there is no label 'x'")).body())
    assert problem == {
        "title": HTTPStatus.UNPROCESSABLE_ENTITY.phrase,  # Python 3.13 has another word for it
        "status": 422,
        "detail": "there is no label 'x'",
        "type": "about:blank",
        "field": None,
    }

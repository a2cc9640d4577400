"""What goes wrong, as `application/problem+json` (RFC 9457): the status, what is the matter, which field is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from treetop.apps.serve.messages import Problem
from treetop.errors import TreetopError

__all__ = ["ProblemError", "bad_json", "of_treetop", "wrong_content"]

_PLACE = re.compile(r" - at `\$\.?(?P<place>[^`]*)`$")
_UNKNOWN = re.compile(r"`(?P<field>[^`]*)`")


class ProblemError(Exception):
    """A request that gets no answer but a problem."""

    def __init__(
        self, status: int, detail: str, *, field: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.field, self.headers = status, detail, field, dict(headers or {})

    def body(self) -> bytes:
        """The problem as it is sent."""
        title = HTTPStatus(self.status).phrase
        return msgspec.json.encode(Problem(title, self.status, self.detail, field=self.field))


def bad_json(error: Exception) -> ProblemError:
    """A body that is not JSON."""
    if isinstance(error, msgspec.ValidationError):
        return wrong_content(error)
    reason = "it is not UTF-8" if isinstance(error, UnicodeError) else str(error)
    return ProblemError(400, f"the body is not valid JSON: {reason}")


def wrong_content(error: msgspec.ValidationError) -> ProblemError:
    """JSON, or a query, that is not what is expected; the message never repeats a value."""
    said = str(error)
    place = _PLACE.search(said)
    field = place["place"] if place else None
    detail = _PLACE.sub("", said)
    if field is None and "field" in said and (named := _UNKNOWN.search(said)):
        field = named["field"]
    return ProblemError(422, detail, field=field or None)


def of_treetop(error: TreetopError) -> ProblemError:
    """What the library itself refuses: an unknown label, an aim that needs calibration, …"""
    return ProblemError(422, str(error))

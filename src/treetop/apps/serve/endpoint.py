"""Between HTTP and Python: an endpoint says what it takes and gives, the rest is the same for all and is here.

A request becomes a typed value, or a problem that names the field. Nothing of a text is ever logged: of an error that
nobody expected the log tells its kind and its place in the code, not its message.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from treetop.apps.serve.deadline import Deadline
from treetop.apps.serve.problems import ProblemError, bad_json, of_treetop, wrong_content
from treetop.errors import TreetopError

if TYPE_CHECKING:
    from treetop.apps.serve.service import Service

__all__ = ["JSON_HEAD", "Call", "ClientGoneError", "Endpoint", "Handler", "Plain", "send_problem"]

log = logging.getLogger("treetop.serve")

_FORGOTTEN = 50_000_000
_JSON = b"application/json"
_PROBLEM = b"application/problem+json"
_FORM = b"application/x-www-form-urlencoded"
_ENCODER = msgspec.json.Encoder()
_NONE = b""
_COMMON = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
JSON_HEAD = b"".join(b"%s: %s\r\n" % header for header in ((b"content-type", _JSON), *_COMMON))
"""The headers of an answer in JSON, beside its length."""


class ClientGoneError(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True, slots=True)
class Plain:
    """An answer that is not JSON."""

    body: bytes
    kind: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Call:
    """A request that is being answered, as an endpoint sees it."""

    service: Service
    scope: Scope
    _receive: Receive

    @property
    def path(self) -> dict[str, str]:
        """The parts of the path that have names."""
        found: dict[str, str] = self.scope["path_params"]
        return found

    async def left(self) -> None:
        """Wait until the client has gone away."""
        while (await self._receive())["type"] != "http.disconnect":
            pass


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One thing that can be asked: `answer(call, asked)` with a value of the type `takes` gives one of `gives`."""

    method: Literal["GET", "POST"]
    path: str
    answer: Callable[[Call, Any], Awaitable[Any]]
    summary: str
    gives: Any = None
    """The type of the answer; None: it has no body, or is `Plain`."""
    plain: str | None = None
    """The content type of a plain answer."""
    at_once: Callable[[Service, Any], Any] | None = None
    """The same answer for a request without a query, where it takes no waiting; None where it does."""
    takes: Any = None
    """The type of the body; None: there is none that matters."""
    query: Any = None
    """The type of the query string, if that is read."""
    form: bool = False
    """Whether the body is a form instead of JSON."""
    status: int = 200
    open: bool = False
    """Whether it is answered without a key."""
    group: str = "treetop"
    """Where the description has it; nowhere if it is empty."""


class Handler:
    """An endpoint as an ASGI application."""

    def __init__(self, endpoint: Endpoint, service: Service) -> None:
        self.endpoint, self.service = endpoint, service
        takes_json = endpoint.takes is not None and not endpoint.form
        self._decoder = msgspec.json.Decoder(endpoint.takes) if takes_json else None

    def at_once(self, headers: list[tuple[bytes, bytes]], body: bytes) -> bytes | None:
        """The answer to a request that has come as a whole; None if it must go the long way, be it to be refused."""
        start, service = time.monotonic(), self.service
        assert self.endpoint.at_once is not None
        assert self._decoder is not None
        try:
            if service.keys is not None and not self.endpoint.open:
                service.keys.check(headers)
            _check_content_type(headers, form=False)
            if len(body) > service.settings.body_limit:
                return None
            given = self.endpoint.at_once(service, self._decoder.decode(body))
            answer = None if given is None else _ENCODER.encode(given)
        except Exception:  # of whatever kind: the long way meets it again, and knows what to say
            return None
        if answer is not None:
            service.watch.answered(self.endpoint.path, self.endpoint.status, time.monotonic() - start)
        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read, answer, send, count."""
        start = time.monotonic()
        status = await self._respond(scope, receive, send)
        self.service.watch.answered(self.endpoint.path, status, time.monotonic() - start)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> int:
        """Send the answer or a problem; its status, 0 if the client has gone."""
        deadline = Deadline(self.service.settings.deadline)
        try:
            if self.service.keys is not None and not self.endpoint.open:
                self.service.keys.check(scope["headers"])
            asked = await self._asked(scope, receive)
            deadline.reading = False
            given = await self.endpoint.answer(Call(self.service, scope, receive), asked)
            await self._send(send, given)
            return self.endpoint.status
        except asyncio.CancelledError:
            return await send_problem(send, deadline.problem())
        except ClientGoneError:
            return 0
        except ProblemError as problem:
            return await send_problem(send, problem)
        except TreetopError as error:
            return await send_problem(send, of_treetop(error))
        except Exception as error:
            _log_without_message(error, scope)
            return await send_problem(send, ProblemError(500, "something went wrong here; see the log of the service"))
        finally:
            deadline.end()

    async def _asked(self, scope: Scope, receive: Receive) -> Any:
        endpoint = self.endpoint
        query = None if endpoint.query is None else _convert(scope["query_string"], endpoint.query, "query")
        if endpoint.takes is None:
            return query
        _check_content_type(scope["headers"], form=endpoint.form)
        body = await read_body(receive, self.service.settings.body_limit)
        asked = _convert(body, endpoint.takes, "form") if self._decoder is None else self._decode(self._decoder, body)
        return asked if query is None else (asked, query)

    def _decode(self, decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
        try:
            return decoder.decode(body)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise bad_json(error) from None

    async def _send(self, send: Send, given: Any) -> None:
        if isinstance(given, Plain):
            headers = [(name.encode(), value.encode()) for name, value in given.headers.items()]
            await _send(send, self.endpoint.status, given.body, given.kind.encode(), headers)
        elif self.endpoint.gives is None:
            await _send(send, self.endpoint.status, b"", _NONE)
        else:
            await _send(send, self.endpoint.status, _ENCODER.encode(given), _JSON)


def _convert(encoded: bytes, kind: Any, what: str) -> Any:
    """A query or a form as a value of the type; a name that is given twice counts once, the last."""
    try:
        pairs = dict(parse_qsl(encoded.decode("ascii"), keep_blank_values=True, errors="strict"))
        return msgspec.convert(pairs, kind, strict=False)
    except msgspec.ValidationError as error:
        raise wrong_content(error) from None
    except ValueError:
        raise ProblemError(400, f"the {what} is not valid UTF-8 in percent encoding") from None


def _check_content_type(headers: Iterable[tuple[bytes, bytes]], *, form: bool) -> None:
    given = next((value for name, value in headers if name == b"content-type"), b"")
    if given in (_JSON, _FORM) and form == (given == _FORM):
        return
    given = given.partition(b";")[0].strip().lower()
    if form and given != _FORM:
        raise ProblemError(415, "send a form, with the header Content-Type: application/x-www-form-urlencoded")
    if not form and given != _JSON and not given.endswith(b"+json"):
        raise ProblemError(415, "send JSON, with the header Content-Type: application/json")


async def read_body(receive: Receive, limit: int) -> bytes:
    """The whole body, if it is not too long.

    A client that is cut off while it sends never sees the answer; so what is too long is taken in and forgotten, up to
    a limit of its own.
    """
    parts: list[bytes] = []
    size, more = 0, True
    while more and size <= _FORGOTTEN:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size <= limit:
            parts.append(part)
        else:
            parts.clear()
    if size > limit:
        detail = f"the body is longer than {limit:,} bytes, the limit of this service; send fewer texts at a time"
        raise ProblemError(413, detail, headers={"connection": "close"})
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _send(
    send: Send, status: int, body: bytes, kind: bytes, more: list[tuple[bytes, bytes]] | None = None
) -> None:
    length = (b"content-length", str(len(body)).encode())
    head = [(b"content-type", kind), length] if kind else []
    await send({"type": "http.response.start", "status": status, "headers": [*head, *_COMMON, *(more or ())]})
    await send({"type": "http.response.body", "body": body})


async def send_problem(send: Send, problem: ProblemError) -> int:
    """Answer with a problem; its status."""
    more = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
    await _send(send, problem.status, problem.body(), _PROBLEM, more)
    return problem.status


def _log_without_message(error: Exception, scope: Scope) -> None:
    places = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s %s: %s\n%s", scope["method"], scope["path"], type(error).__name__, places)

"""Between HTTP and Python: an endpoint says what it takes and gives, the rest is the same for all and is here.

A request becomes a typed value, or a problem that names the field. Nothing of a text is ever logged: of an error that
nobody expected the log tells its kind and its place in the code, not its message.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from treetop.apps.serve.problems import ProblemError, bad_json, of_treetop, wrong_content
from treetop.errors import TreetopError

if TYPE_CHECKING:
    from treetop.apps.serve.service import Service

__all__ = ["ClientGoneError", "Endpoint", "Handler", "send_problem"]

log = logging.getLogger("treetop.serve")

_FORGOTTEN = 50_000_000
_JSON = (b"content-type", b"application/json")
_ENCODER = msgspec.json.Encoder()
_COMMON = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class ClientGoneError(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One thing that can be asked: `answer(service, asked)` with a value of the type `takes` gives one of `gives`."""

    method: str
    path: str
    answer: Callable[[Service, Any], Awaitable[Any]]
    summary: str
    gives: Any
    takes: Any = None
    """The type of the body, or for GET of the query; None: there is neither."""
    status: int = 200


class Handler:
    """An endpoint as an ASGI application."""

    def __init__(self, endpoint: Endpoint, service: Service) -> None:
        self.endpoint, self.service = endpoint, service
        takes_body = endpoint.takes is not None and endpoint.method == "POST"
        self._decoder = msgspec.json.Decoder(endpoint.takes) if takes_body else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read, answer, send."""
        try:
            asked = await self._asked(scope, receive)
            given = await self.endpoint.answer(self.service, asked)
            await _send(send, self.endpoint.status, _ENCODER.encode(given), _JSON)
        except ClientGoneError:
            return
        except ProblemError as refused:
            await send_problem(send, refused)
        except TreetopError as error:
            await send_problem(send, of_treetop(error))
        except Exception as error:
            _log_without_message(error, scope)
            await send_problem(send, ProblemError(500, "something went wrong here; it is in the log of the service"))

    async def _asked(self, scope: Scope, receive: Receive) -> Any:
        if self._decoder is not None:
            _check_content_type(scope)
            body = await read_body(receive, self.service.settings.body_limit)
            try:
                return self._decoder.decode(body)
            except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                raise bad_json(error) from None
        return None if self.endpoint.takes is None else _query(scope, self.endpoint.takes)


def _query(scope: Scope, kind: Any) -> Any:
    """The query string as a value of the type; a name that is given twice counts once, the last."""
    try:
        pairs = dict(parse_qsl(scope["query_string"].decode("ascii"), keep_blank_values=True, errors="strict"))
        return msgspec.convert(pairs, kind, strict=False)
    except msgspec.ValidationError as error:
        raise wrong_content(error) from None
    except ValueError:
        raise ProblemError(400, "the query is not valid UTF-8 in percent encoding") from None


def _header(scope: Scope, wanted: bytes) -> bytes | None:
    return next((value for name, value in scope["headers"] if name == wanted), None)


def _check_content_type(scope: Scope) -> None:
    given = (_header(scope, b"content-type") or b"").partition(b";")[0].strip().lower()
    if given != b"application/json" and not given.endswith(b"+json"):
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


async def _send(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length, *_COMMON]})
    await send({"type": "http.response.body", "body": body})


async def send_problem(send: Send, refused: ProblemError) -> None:
    """Answer with a problem."""
    more = [(name.lower().encode(), value.encode()) for name, value in refused.headers.items()]
    await _send(send, refused.status, refused.body(), (b"content-type", b"application/problem+json"), *more)


def _log_without_message(error: Exception, scope: Scope) -> None:
    places = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s %s: %s\n%s", scope["method"], scope["path"], type(error).__name__, places)

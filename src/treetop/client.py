"""A service that somebody runs with `treetop serve`, asked from Python; the standard library is all it takes.

    client = treetop.Client("http://127.0.0.1:8000")
    client.suggest("a text")[0].label
    for suggestions in client.suggest_all(open("texts.txt"), threshold="auto"):
        …

A service that is busy says when to come back (429), and the client does, as it does after a connection that was lost.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlencode, urlsplit

from treetop.errors import ConfigError, ServiceError

__all__ = ["Client", "RemoteSuggestion"]

_LOST = (http.client.HTTPException, ConnectionError)
_LATER = (429, 503)
_DIGITS = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_LONGEST_PAUSE = 30.0
_MOST_EXPLAINED = 100
"""Suggestions of one request that a service explains."""
_LARGEST = 1 << 28  # bytes of an answer; a thousand texts with explanations have a tenth of that


class RemoteSuggestion(NamedTuple):
    """One label that a service suggests for a text."""

    label: str
    score: float
    probability: float | None
    """How often such a suggestion is right; None if the model is not calibrated."""
    text: str | None
    """What describes the label, if it has more than a name."""
    unseen: bool
    """Whether no training text has this label."""
    explanation: Any
    """Why; None if it was not asked for."""


class Client:
    """Asks a service. It may be used by several threads, each has a connection of its own that stays open.

    `key` is one of the service's keys, if it asks for one; `patience` the seconds for which a busy service is asked
    again; `timeout` the seconds that an answer may take.
    """

    def __init__(self, url: str, *, key: str | None = None, patience: float = 60.0, timeout: float = 60.0) -> None:
        parts = _parts_of(url)
        if key is not None and not (key.isascii() and key.isprintable()):
            raise ConfigError("a key has letters, digits and signs of ASCII only, and no line feed")
        self.url, self.patience, self.timeout = url.rstrip("/"), patience, timeout
        self._parts, self._own = parts, threading.local()
        self._headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def models(self) -> list[dict[str, Any]]:
        """What is served: name, version, method, number of labels, whether it is calibrated, …"""
        found: list[dict[str, Any]] = self._field("models", "GET", "/v1/models")
        return found

    def suggest(self, text: str, k: int = 10, **options: Any) -> list[RemoteSuggestion]:
        """The labels of one text, best first; options as those of `suggest_all`."""
        return self._suggest([text], k, options)[0]

    def suggest_all(
        self, texts: Iterable[str], k: int = 10, *, batch: int = 64, **options: Any
    ) -> Iterator[list[RemoteSuggestion]]:
        """The labels of each text, in order, asked for `batch` by `batch` while they are taken.

        Options are `model` (a name), `threshold` (a number, or an aim as "auto" or "precision:0.9"), `labels` (choose
        from these only) and `explain`, with which fewer texts go into a batch: a service explains so much at once.
        """
        if options.get("explain"):
            batch = max(1, min(batch, _MOST_EXPLAINED // k))
        rest = iter(texts)
        while some := list(islice(rest, batch)):
            yield from self._suggest(some, k, options)

    def labels(self, query: str = "", *, model: str | None = None, limit: int = 20) -> list[dict[str, Any]]:
        """Labels with all words of the query in their name or text: label, text, frequency."""
        asked = {"query": query, "limit": limit} | ({"model": model} if model else {})
        found: list[dict[str, Any]] = self._field("labels", "GET", f"/v1/labels?{urlencode(asked)}")
        return found

    def feedback(
        self,
        text: str,
        *,
        accepted: Sequence[str] = (),
        rejected: Sequence[str] = (),
        added: Sequence[str] = (),
        model: str | None = None,
        version: str | None = None,
        user: str | None = None,
    ) -> str:
        """Tell the service what is right for a text, for the next training; its id there."""
        given = {"text": text, "accepted": [*accepted], "rejected": [*rejected], "added": [*added]}
        more = {"model": model, "version": version, "user": user}
        return str(self._field("id", "POST", "/v1/feedback", given | more))

    def health(self) -> dict[str, Any]:
        """The versions of the models that answer; an error if they do not."""
        found: dict[str, Any] = self._ask("GET", "/health")
        return found

    def close(self) -> None:
        """Close the connection of this thread; the next request opens another."""
        connection = getattr(self._own, "connection", None)
        if connection is not None:
            connection.close()
            del self._own.connection

    def _suggest(self, texts: Sequence[str], k: int, options: dict[str, Any]) -> list[list[RemoteSuggestion]]:
        found = self._field("results", "POST", "/v1/suggest", {"texts": texts, "k": k, **options})
        names = RemoteSuggestion._fields
        with self._understood():
            lists = [[RemoteSuggestion(*map(one.get, names)) for one in result["suggestions"]] for result in found]
            if len(lists) != len(texts):
                raise ValueError(f"{len(lists)} lists for {len(texts)} texts")
            return lists

    def _field(self, name: str, method: str, path: str, content: Any = None) -> Any:
        """A field of an answer."""
        answer = self._ask(method, path, content)
        with self._understood():
            return answer[name]

    @contextmanager
    def _understood(self) -> Iterator[None]:
        """A block that makes sense of an answer; if it cannot, whoever answers is not what it is taken for."""
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            problem = f"gives an answer that makes no sense ({error!r:.200})"
            raise ServiceError(f"{self.url} {problem}; is this a treetop service?", 200) from None

    def _ask(self, method: str, path: str, content: Any = None) -> Any:
        """The answer; as long as the service is busy, and patience lasts, it is asked again."""
        body = None if content is None else json.dumps(content).encode()
        end, pause = time.monotonic() + self.patience, 0.1
        while True:
            status, headers, answer = self._try(method, path, body, last=time.monotonic() + pause > end)
            if status in (200, 201):
                with self._understood():
                    return json.loads(answer)
            if status not in _LATER and status != 0:
                raise _refused(self.url, status, answer)
            wait = _seconds(headers.get("retry-after"), pause)
            if time.monotonic() + wait > end:
                raise _refused(self.url, status, answer)
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _try(self, method: str, path: str, body: bytes | None, *, last: bool) -> tuple[int, Any, bytes]:
        """Status, headers and body; status 0 if the connection was lost."""
        headers = self._headers | ({"Content-Type": "application/json"} if body is not None else {})
        try:
            connection = self._connection()
            connection.request(method, self._parts.path.rstrip("/") + path, body, headers)
            response = connection.getresponse()
            return response.status, response.headers, _body(response)
        except (OSError, UnicodeError, *_LOST) as error:  # a host's name may be no name, which is a UnicodeError
            self.close()
            if last or not isinstance(error, _LOST):
                raise ServiceError(f"{self.url} does not answer ({error}); is the service running?", 0) from None
            return 0, {}, b""

    def _connection(self) -> http.client.HTTPConnection:
        if not hasattr(self._own, "connection"):
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            self._own.connection = kind(self._parts.netloc, timeout=self.timeout)
        found: http.client.HTTPConnection = self._own.connection
        return found


def _parts_of(url: str) -> SplitResult:
    """The parts of an address that can be one."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that stays open
        known = False
    if not known or not (url.isascii() and url.isprintable()) or " " in url:
        raise ConfigError(f"{url!r} is no address of a service; give one such as http://127.0.0.1:8000")
    return parts


def _body(response: http.client.HTTPResponse) -> bytes:
    """The whole answer; one that has no end is no answer."""
    if response.length is not None and response.length <= _LARGEST:
        return response.read()
    parts, size = list[bytes](), 0
    while part := response.read(1 << 16):
        parts.append(part)
        size += len(part)
        if size > _LARGEST:
            raise OSError(f"an answer of more than {_LARGEST:,} bytes")
    return b"".join(parts)


def _seconds(said: str | None, otherwise: float) -> float:
    """How long to wait by a header, which may also hold a date or anything else."""
    number = float(said) if said is not None and _DIGITS.fullmatch(said.strip()) else otherwise
    return number or otherwise


def _refused(url: str, status: int, answer: bytes) -> ServiceError:
    """What the service says is wrong."""
    try:
        problem = json.loads(answer)
        place = f" (field {problem['field']})" if problem.get("field") else ""
        return ServiceError(f"{url}: {problem['detail']}{place}", status)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ServiceError(f"{url} answers with status {status}; is this a treetop service?", status)

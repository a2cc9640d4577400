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
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from treetop.errors import ConfigError, ServiceError

__all__ = ["Client", "RemoteSuggestion"]

_LOST = (http.client.HTTPException, ConnectionError)
_LATER = (429, 503)
_LONGEST_PAUSE = 30.0
_MOST_EXPLAINED = 100
"""Suggestions of one request that a service explains."""


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
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"{url!r} is no address of a service; give one such as http://127.0.0.1:8000")
        self.url, self.patience, self.timeout = url.rstrip("/"), patience, timeout
        self._parts, self._own = parts, threading.local()
        self._headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def models(self) -> list[dict[str, Any]]:
        """What is served: name, version, method, number of labels, whether it is calibrated, …"""
        found: list[dict[str, Any]] = self._ask("GET", "/v1/models")["models"]
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
        found: list[dict[str, Any]] = self._ask("GET", f"/v1/labels?{urlencode(asked)}")["labels"]
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
        return str(self._ask("POST", "/v1/feedback", given | more)["id"])

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
        found = self._ask("POST", "/v1/suggest", {"texts": texts, "k": k, **options})["results"]
        names = RemoteSuggestion._fields
        return [[RemoteSuggestion(*map(one.get, names)) for one in result["suggestions"]] for result in found]

    def _ask(self, method: str, path: str, content: Any = None) -> Any:
        """The answer; as long as the service is busy, and patience lasts, it is asked again."""
        body = None if content is None else json.dumps(content).encode()
        end, pause = time.monotonic() + self.patience, 0.1
        while True:
            status, headers, answer = self._try(method, path, body, last=time.monotonic() + pause > end)
            if status in (200, 201):
                return json.loads(answer)
            if status not in _LATER and status != 0:
                raise _refused(self.url, status, answer)
            wait = float(headers.get("retry-after") or pause)
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
            return response.status, response.headers, response.read()
        except (OSError, *_LOST) as error:
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


def _refused(url: str, status: int, answer: bytes) -> ServiceError:
    """What the service says is wrong."""
    try:
        problem = json.loads(answer)
        place = f" (field {problem['field']})" if problem.get("field") else ""
        return ServiceError(f"{url}: {problem['detail']}{place}", status)
    except (ValueError, KeyError, TypeError, AttributeError):
        return ServiceError(f"{url} answers with status {status}; is this a treetop service?", status)

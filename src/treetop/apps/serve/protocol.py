"""Requests off a connection: uvicorn's protocol, and a short cut for those that are there as a whole.

A request costs uvicorn a task, a cycle of events and two messages: about what a linear model takes to answer it. So
where a request has come with all of its body at once, as small ones do, and the application has an answer at hand,
that is written right away. Everything else goes the long way, and so does whatever is to be refused, and who sends many
requests without waiting for answers: others would have to wait meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from treetop.apps.serve.endpoint import JSON_HEAD

if TYPE_CHECKING:
    from treetop.apps.serve.app import Application

__all__ = ["Protocol"]


class Protocol(HttpToolsProtocol):
    """A connection; `_held` is the body so far of a request that may take the short cut, None if there is no such."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._application: Application = self.config.app  # type: ignore[assignment]
        self._held: list[bytes] | None = None
        self._fresh = True  # nothing was answered yet of what has just come

    def on_headers_complete(self) -> None:
        """Hold a request that may take the short cut; begin another."""
        if self._may_be_short():
            self._held = []
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        if self._held is None:
            super().on_body(body)
        else:
            self._held.append(body)

    def on_message_complete(self) -> None:
        """Answer a request that was held, or let it go the long way."""
        if self._held is not None:
            body = self._application.at_once(self.url, self.headers, b"".join(self._held))
            if body is not None:
                self._held, self._fresh = None, False
                self._write(body)
                return
            self._let_go()
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Bytes of requests; one that has not come whole with them goes the long way, on which there are deadlines."""
        self._fresh = True
        super().data_received(data)
        if self._held is not None:
            if self.transport.is_closing():
                self._held = None
            else:
                self._let_go()

    def _may_be_short(self) -> bool:
        """Whether nothing is out of the ordinary."""
        parser = self.parser
        return (
            self._fresh
            and self.url in self._application.short
            and parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not parser.should_upgrade()
            and not self.expect_100_continue
            and (self.cycle is None or self.cycle.response_complete)
            and not self.flow.write_paused
        )

    def _let_go(self) -> None:
        held, self._held = b"".join(self._held or ()), None
        super().on_headers_complete()
        if held:
            super().on_body(held)

    def _write(self, body: bytes) -> None:
        head = [b"HTTP/1.1 200 OK\r\n"]
        for name, value in self.server_state.default_headers:
            head += (name, b": ", value, b"\r\n")
        self.transport.write(b"".join((*head, JSON_HEAD, b"content-length: %d\r\n\r\n" % len(body), body)))
        self.on_response_complete()

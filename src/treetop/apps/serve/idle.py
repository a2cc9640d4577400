"""Connections on which a request begins and never ends are closed; otherwise they would be kept for ever.

A body that does not arrive is answered by the deadline of its request. Here is what comes before: a client that
connects and says nothing, or stops in the middle of the headers. A look once a second costs requests nothing.
"""

from __future__ import annotations

import time
from typing import Any

__all__ = ["IdleConnections"]


class IdleConnections:
    """Remembers since when a connection has waited for the rest of a request's headers."""

    def __init__(self, state: Any, limit: float) -> None:
        self.state, self.limit = state, limit
        self._since: dict[Any, tuple[object, float]] = {}

    def close(self) -> int:
        """Close those that have waited too long; how many there were."""
        now, waiting, closed = time.monotonic(), {}, 0
        for connection in list(self.state.connections):
            if not _waits(connection):
                continue
            last, since = self._since.get(connection, (connection.cycle, now))
            waiting[connection] = (connection.cycle, since if last is connection.cycle else now)
            if now - waiting[connection][1] > self.limit and connection.transport is not None:
                connection.transport.close()
                closed += 1
        self._since = waiting
        return closed


def _waits(connection: Any) -> bool:
    """Whether no request is under way, and the server's own timer for such connections does not run."""
    cycle = connection.cycle
    return (cycle is None or cycle.response_complete) and connection.timeout_keep_alive_task is None

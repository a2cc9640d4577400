"""Where a service listens: one socket, or one for each of several workers at the same address.

Workers that share a socket race for connections, and the quickest takes most of them. Linux shares connections out
evenly among sockets of the same address, so there each worker has its own; elsewhere they share one.
"""

from __future__ import annotations

import socket
import sys

from treetop.apps.serve.settings import Settings
from treetop.errors import ConfigError

__all__ = ["address", "listen", "own"]

_WAITING = 2048
"""Connections that nobody has taken yet."""


def listen(settings: Settings) -> socket.socket:
    """A socket at the address; whatever is wrong with that is said before models are loaded."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        found = socket.create_server((settings.host, settings.port), family=family, backlog=_WAITING)
        if settings.workers == 1 or sys.platform != "linux":
            return found
        with found:  # nobody else is there, so the address can be shared among workers
            place = found.getsockname()
        return _bound(family, place)
    except OSError as error:
        where = f"{settings.host}, port {settings.port}"
        raise ConfigError(f"cannot listen at {where} ({error.strerror}); choose another with --port") from None


def own(given: socket.socket) -> socket.socket:
    """What a worker listens at: a socket of its own if the address may have several, else the one that is given."""
    if sys.platform != "linux" or not given.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT):
        return given
    found = _bound(given.family, given.getsockname())
    found.listen(_WAITING)
    return found


def _bound(family: int, place: object) -> socket.socket:
    """A socket at an address that it may share; it does not listen, so no connection comes to it."""
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if family == socket.AF_INET6:
        found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)  # as `create_server` has it
    found.bind(place)  # type: ignore[arg-type]
    return found


def address(listening: socket.socket) -> str:
    """Where the service is found."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

"""The process that serves."""

from __future__ import annotations

import socket

import typer
import uvicorn

from treetop.apps.serve.app import application
from treetop.apps.serve.keeping import Keeper
from treetop.apps.serve.service import Service
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.shelf import Shelf
from treetop.errors import ConfigError

__all__ = ["address", "listen", "make_server", "make_service", "run"]


def make_service(shelf: Shelf, settings: Settings) -> Service:
    """A service for these models."""
    return Service(settings, shelf, None if settings.feedback is None else Keeper(settings.feedback))


def make_server(service: Service) -> uvicorn.Server:
    """What answers requests at a socket."""
    return uvicorn.Server(uvicorn.Config(application(service), log_level="warning", access_log=False, ws="none"))


def listen(settings: Settings) -> socket.socket:
    """A socket at the address; whatever is wrong with that is said before models are loaded."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        place = f"{settings.host}, port {settings.port}"
        raise ConfigError(f"cannot listen at {place} ({error.strerror}); choose another with --port") from None


def address(listening: socket.socket) -> str:
    """Where the service is found."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(shelf: Shelf, settings: Settings) -> None:
    """Load, listen, answer until the process is told to stop."""
    with listen(settings) as listening:
        shelf.load()
        typer.echo(f"treetop serves {', '.join(shelf.folders)} at {address(listening)}", err=True)
        make_server(make_service(shelf, settings)).run([listening])

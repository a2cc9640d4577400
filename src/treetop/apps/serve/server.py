"""From a command to a service that answers: the socket, one worker in this process or several of their own."""

from __future__ import annotations

import logging
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import typer

from treetop.apps.serve.keys import Keys
from treetop.apps.serve.model import version_of
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.sockets import address, listen
from treetop.apps.serve.supervisor import Supervisor
from treetop.apps.serve.worker import Worker, new_table

__all__ = ["run"]

_LOOK = 0.05


def run(folders: dict[str, Path], settings: Settings) -> None:
    """Listen, load, answer until the process is told to stop."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    _check(folders, settings)
    table = new_table(folders, settings.workers)
    try:
        with listen(settings) as listening:
            _serve(folders, settings, table, listening)
    finally:
        table.unlink(missing_ok=True)


def _check(folders: dict[str, Path], settings: Settings) -> None:
    """Refuse at once what no worker could do."""
    for path in folders.values():
        version_of(path)
    if settings.keys is not None:
        Keys.read(settings.keys)


def _serve(folders: dict[str, Path], settings: Settings, table: Path, listening: socket.socket) -> None:
    where = address(listening)

    def told() -> None:
        typer.echo(f"treetop serves {', '.join(folders)} at {where}", err=True)

    if settings.workers > 1:
        code = Supervisor(settings, folders, table, listening).run(told)
        if code:
            sys.exit(code)
        return
    worker = Worker(settings, folders, table)
    threading.Thread(target=_tell_when_ready, args=(worker, told), daemon=True).start()
    worker.run([listening])


def _tell_when_ready(worker: Worker, told: Callable[[], None]) -> None:
    while not worker.ready:
        if worker.failure is not None:
            return
        time.sleep(_LOOK)
    told()

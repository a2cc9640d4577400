"""One process that serves: it loads, answers, looks after its models, and drains when it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from multiprocessing import parent_process
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from treetop.apps.serve.app import application
from treetop.apps.serve.counts import make_table
from treetop.apps.serve.endpoints import PATHS
from treetop.apps.serve.idle import IdleConnections
from treetop.apps.serve.protocol import Protocol
from treetop.apps.serve.service import Service
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.watch import Watch, columns
from treetop.errors import TreetopError

__all__ = ["Worker", "new_table"]

log = logging.getLogger("treetop.serve")
_EVERY = 1.0
_TURN = 0.001
"""Seconds after which a thread that computes lets the loop go on, which refuses, for instance, who asks too much."""


def new_table(folders: dict[str, Path], workers: int) -> Path:
    """The file that so many workers count in."""
    return make_table(workers, len(columns(PATHS, list(folders))))


class Worker:
    """A server for some models at a socket that listens."""

    def __init__(self, settings: Settings, folders: dict[str, Path], table: Path, number: int = 0) -> None:
        watch = Watch(table, PATHS, list(folders), number)
        self.service = Service(settings, folders, watch)
        self.failure: BaseException | None = None
        self._reload = asyncio.Event()
        app = application(self.service, self._lifespan)
        config = uvicorn.Config(
            app, http=Protocol, ws="none", log_level="warning", access_log=False, proxy_headers=False,
            timeout_keep_alive=75,
        )  # fmt: skip
        self.server = uvicorn.Server(config)

    def run(self, sockets: Sequence[socket.socket]) -> None:
        """Serve until a signal; raises what kept the models from being loaded."""
        if threading.current_thread() is threading.main_thread():  # in a process of its own
            sys.setswitchinterval(_TURN)
        self.server.run(list(sockets))
        if self.failure is not None:
            raise self.failure

    @property
    def others_answer(self) -> bool:
        """Whether other workers are there to answer while this one loads."""
        return self.service.watch.counts.total("ready") > 0

    def stop(self) -> None:
        """Answer what is under way, and end."""
        self.service.draining = True
        self.server.should_exit = True

    @property
    def ready(self) -> bool:
        """Whether all models answer."""
        return self.service.shelf.complete

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.ensure_future(task) for task in (self._load(), self._look_after())]
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):  # only the main thread hears signals
            loop.add_signal_handler(signal.SIGHUP, self._reload.set)
        parent = parent_process()
        if parent is not None:
            loop.add_reader(parent.sentinel, self.stop)  # whoever started it is gone
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    async def _load(self) -> None:
        try:
            if not self.ready:
                await asyncio.get_running_loop().run_in_executor(None, self.service.shelf.load)
        except Exception as error:
            self.failure = error
            self.stop()
            return
        self.service.watch.counts.set("started", time.time())
        self.service.watch.counts.set("ready", 1)

    async def _look_after(self) -> None:
        """Every second: exchange models whose folders were replaced, and tell how things stand."""
        idle = IdleConnections(self.server.server_state, self.service.settings.deadline)
        while True:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._reload.wait(), _EVERY)
            asked = self._reload.is_set()
            self._reload.clear()
            idle.close()
            self._tell()
            if self.ready:
                await asyncio.get_running_loop().run_in_executor(None, self._refresh, asked)

    def _refresh(self, asked: bool) -> None:
        self.service.shelf.refresh(all_of_them=asked)
        if asked:
            try:
                self.service.read_keys()
            except TreetopError as error:
                log.error("keys stay as they are: %s", error)

    def _tell(self) -> None:
        counts, service = self.service.watch.counts, self.service
        counts.set("queued", service.encoding.waiting + service.ranking.waiting)
        counts.set("memory", _resident())
        now = time.time()
        for model in service.shelf:
            counts.set(("since", model.name), now - (time.monotonic() - model.since))


def _resident() -> float:
    """Bytes of memory of this process; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError):
        return float(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0.0

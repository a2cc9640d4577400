"""Several workers at one address: who dies is replaced, signals are passed on, and all of them drain at the end."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import typer

from treetop.apps.serve.counts import Counts
from treetop.apps.serve.endpoints import PATHS
from treetop.apps.serve.settings import Settings
from treetop.apps.serve.sockets import own
from treetop.apps.serve.watch import columns
from treetop.apps.serve.worker import Worker
from treetop.errors import TreetopError

__all__ = ["Supervisor"]

log = logging.getLogger("treetop.serve")

_CANNOT = 2
_LOOK = 0.1
_SOONEST = 1.0
"""Seconds between two starts of the same worker."""


def _work(settings: Settings, folders: dict[str, Path], table: Path, number: int, listening: socket.socket) -> None:
    """What a worker process does."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        worker = Worker(settings, folders, table, number)
        if worker.others_answer:  # then nobody has to be told that the models are being loaded
            worker.service.shelf.load()
        worker.run([own(listening)])
    except TreetopError as error:
        typer.echo(f"error: {' '.join(str(error).splitlines())}", err=True)
        sys.exit(_CANNOT)


class Supervisor:
    """Starts workers and keeps them at their number."""

    def __init__(self, settings: Settings, folders: dict[str, Path], table: Path, listening: socket.socket) -> None:
        self._arguments: tuple[Any, ...] = (settings, folders, table)
        self._listening = listening
        names = columns(PATHS, list(folders))
        self._counts = [Counts(table, names, number) for number in range(settings.workers)]
        self._workers: dict[int, BaseProcess] = {}
        self._started: dict[int, float] = {}
        self._told: list[int] = []
        self._ending = False

    @property
    def ready(self) -> bool:
        """Whether every worker has answered a text."""
        return all(map(self._is_ready, range(len(self._counts))))

    def run(self, told: Callable[[], None]) -> int:
        """Serve until a signal; `told()` is called once all workers are ready. The exit code: 2 if none can work."""
        for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(one, lambda number, _frame: self._told.append(number))
        for number in range(len(self._counts)):
            self._start(number)
        been_ready = False
        while self._workers:
            wait([worker.sentinel for worker in self._workers.values()], timeout=_LOOK)
            self._pass_on()
            if self.ready and not been_ready:
                been_ready = True
                told()
            if not self._reap(been_ready):
                return _CANNOT
        return 0

    def _pass_on(self) -> None:
        """Act on signals, here and not when they come: that may be while a worker is being started."""
        while self._told:
            if self._told.pop(0) != signal.SIGHUP:
                self._end()
            else:
                self._send(signal.SIGHUP, [number for number in self._workers if self._is_ready(number)])

    def _is_ready(self, number: int) -> bool:
        return bool(self._counts[number].each("ready")[number])

    def _reap(self, been_ready: bool) -> bool:
        """Replace those who have died; False if the models cannot be loaded at all."""
        for number, worker in list(self._workers.items()):
            if worker.is_alive():
                continue
            worker.join()
            del self._workers[number]
            if self._ending:
                continue
            if worker.exitcode == _CANNOT and not been_ready:
                self._end()
                return False
            log.warning("worker %d ended with %s and is replaced", number, worker.exitcode)
            self._start(number)
        return True

    def _start(self, number: int) -> None:
        time.sleep(max(0.0, self._started.get(number, 0.0) + _SOONEST - time.monotonic()))
        self._started[number] = time.monotonic()
        self._counts[number].set("ready", 0)
        context = multiprocessing.get_context("spawn")  # a fork would take the threads of nobody along
        worker = context.Process(target=_work, args=(*self._arguments, number, self._listening), daemon=False)
        worker.start()
        self._workers[number] = worker

    def _end(self) -> None:
        self._ending = True
        self._send(signal.SIGTERM, list(self._workers))

    def _send(self, number: int, workers: Sequence[int]) -> None:
        for worker in (self._workers[one] for one in workers):
            if worker.pid is not None and worker.is_alive():
                os.kill(worker.pid, number)

"""How many threads torch uses, also in a process that was forked.

A fork takes only the thread along that called it. The pool that torch computes with is then a list of threads that do
not exist, and whoever asks it waits for ever. A forked process therefore computes with the one thread it has: what a
server with a process per core wants. More take a process that is spawned.

The number is that of the whole process, so that threads of a program must not switch it under one another: who comes
first sets it, who comes while others compute goes along, and who leaves last sets it back.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from treetop.runtime import Runtime

__all__ = ["threads"]

_process = os.getpid()
"""Where torch was imported, and may have made its pool."""


class _Switch:
    """The number of threads of torch, while somebody computes."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside, self.before, self.count = 0, 0, 0

    def enter(self, count: int) -> None:
        with self.lock:
            if not self.inside:
                self.before, self.count = torch.get_num_threads(), count
            if torch.get_num_threads() != self.count:
                torch.set_num_threads(self.count)
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside and self.before != self.count:
                torch.set_num_threads(self.before)


_switch = _Switch()


@contextmanager
def threads(runtime: Runtime) -> Iterator[None]:
    """Run torch on the runtime's number of threads; on one in a forked process."""
    switch = _switch
    switch.enter(runtime.cores if os.getpid() == _process else 1)
    try:
        yield
    finally:
        switch.leave()


def _after_fork() -> None:
    global _switch
    _switch = _Switch()  # the old one may be locked by a thread that is gone
    torch.set_num_threads(1)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the tokenizers would do so themselves, and complain


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

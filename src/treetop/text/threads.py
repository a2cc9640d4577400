"""How many threads torch uses, also in a process that was forked.

A fork takes only the thread along that called it. The pool that torch computes with is then a list of threads that do
not exist, and whoever asks it waits for ever. A forked process therefore computes with the one thread it has: what a
server with a process per core wants. More take a process that is spawned.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from treetop.runtime import Runtime

__all__ = ["threads"]

_process = os.getpid()
"""Where torch was imported, and may have made its pool."""


@contextmanager
def threads(runtime: Runtime) -> Iterator[None]:
    """Run torch on the runtime's number of threads; on one in a forked process."""
    before = torch.get_num_threads()
    torch.set_num_threads(runtime.cores if os.getpid() == _process else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _after_fork() -> None:
    torch.set_num_threads(1)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the tokenizers would do so themselves, and complain


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

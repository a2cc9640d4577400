"""Forks of this process: what they do goes wrong without harm, and they begin with all modules that they need."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import struct
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from treetop.apps.cli import main

__all__ = ["command_ended", "die_in", "fork", "in_child", "with_its_modules"]


def fork(act: Callable[[], object]) -> int:
    """The process that does something: exit code 0, or 1 if it raises.

    What is here now is no garbage: to look for some would copy all of it into the child, which takes most of its time.
    """
    gc.freeze()
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
        os._exit(0)
    return child


def in_child(act: Callable[[], object]) -> int:
    """How the process ended that did something."""
    return os.waitpid(fork(act), 0)[1]


def with_its_modules(act: Callable[[], object]) -> int:
    """The same; what the process imported is imported here, so that those to come need not do it again.

    To do the thing itself here would start threads, which no fork survives.
    """
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as told:

        def tell() -> None:
            try:
                act()
            finally:
                Path(told.name).write_text("\n".join(sys.modules), encoding="utf-8")

        status = in_child(tell)
        for module in told.read().split():
            with suppress(Exception):  # modules that are not found by their names
                import_module(module)
    return status


def die_in(clock: int, seconds: float) -> None:
    """Have the kernel kill this process when so many seconds have passed by a clock, whatever it does then."""
    libc, timer = ctypes.CDLL(None, use_errno=True), ctypes.c_void_p()
    event = struct.pack("@qii48x", 0, signal.SIGKILL, 0)  # struct sigevent: SIGEV_SIGNAL
    wait = struct.pack("@qqqq", 0, 0, *divmod(max(1, int(seconds * 1e9)), 10**9))  # struct itimerspec: once
    if libc.timer_create(clock, event, ctypes.byref(timer)) or libc.timer_settime(timer, 0, wait, None):
        raise OSError(ctypes.get_errno(), "no timer can be had")


def command_ended(words: Sequence[str], said: Path) -> int:
    """The exit code of a command of ours that this process, a fork, runs; what it says goes to a file."""
    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", buffering=1, closefd=False)
    sys.argv = ["treetop", *words]
    try:
        main()
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0

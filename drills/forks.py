"""Forks of this process: what they do goes wrong without harm, and they begin with all modules that they need."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from treetop.apps.cli import main

__all__ = ["command_ended", "fork", "in_child", "with_its_modules"]


def fork(act: Callable[[], object]) -> int:
    """The process that does something: exit code 0, or 1 if it raises."""
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

"""Remarks that the package makes by `logging`, as a program of the shell says them: plain lines, or nothing."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["quiet", "said_plainly"]

_LOG = logging.getLogger("treetop")


@contextmanager
def said_plainly() -> Iterator[None]:
    """A block in which warnings are lines on standard error, whatever libraries do to the root of all logs."""
    handler = logging.StreamHandler(sys.stderr)
    level, passed_on = _LOG.level, _LOG.propagate
    _LOG.addHandler(handler)
    _LOG.propagate = False
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        _LOG.setLevel(level)
        _LOG.propagate = passed_on


def quiet() -> None:
    """From now on only what keeps a command from its work is said."""
    _LOG.setLevel(logging.ERROR)

"""What libraries in Rust print when they panic: lines about themselves, before the error that they raise.

The error says it, too, and is told in one line; so the print is dropped. All else that comes to standard error
meanwhile, from whatever thread, is only held back until the library is done.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["unprinted"]

_STANDARD_ERROR = 2
_ONE = threading.Lock()


@contextmanager
def unprinted() -> Iterator[None]:
    """A block in which a library reads; if it raises, nothing of what was printed meanwhile is shown."""
    if not _ONE.acquire(blocking=False):  # somebody else's block holds standard error
        yield
        return
    try:
        with _held_back() as held:
            yield
        _show(held)
    finally:
        _ONE.release()


@contextmanager
def _held_back() -> Iterator[bytearray]:
    """What is printed in the block, once it has ended without an error."""
    said = bytearray()
    with tempfile.TemporaryFile() as file:
        try:
            own = os.dup(_STANDARD_ERROR)
        except OSError:  # there is no standard error
            yield said
            return
        os.dup2(file.fileno(), _STANDARD_ERROR)
        try:
            yield said
        finally:
            os.dup2(own, _STANDARD_ERROR)
            os.close(own)
        file.seek(0)
        said += file.read()


def _show(said: bytearray) -> None:
    view = memoryview(said)
    while view:
        view = view[os.write(_STANDARD_ERROR, view) :]

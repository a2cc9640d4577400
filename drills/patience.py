"""How long a trial may take, in CPU time: what a busy machine makes it wait for is not its fault."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["TooLong", "within"]


class TooLong(BaseException):
    """Not an Exception, so that nothing on the way takes it for damage."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooLong in what has used so many CPU-seconds; who waits for nothing is left to who waits for a round."""
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _stop(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TooLong

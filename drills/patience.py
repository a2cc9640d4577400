"""How long a trial may take, in CPU time: what a busy machine makes it wait for is not its fault."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import FrameType

__all__ = ["TooLong", "within"]

TICKS = 300
"""Seconds, those in which this process was stopped not counted, after which it waits for something that never comes."""


class TooLong(BaseException):
    """Not an Exception, so that nothing on the way takes it for damage."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooLong in what has used so many CPU-seconds, or has done nothing for minutes."""
    ticks = count(1)

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        if number == signal.SIGPROF or next(ticks) >= TICKS:
            raise TooLong

    before = [(number, signal.signal(number, stop)) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in before:
            signal.signal(number, handler)

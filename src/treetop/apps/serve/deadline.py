"""How long a request may take, its sending included."""

from __future__ import annotations

import asyncio

from treetop.apps.serve.problems import ProblemError

__all__ = ["Deadline"]


class Deadline:
    """Cancels the task of a request when its time is over. For one that is in time it costs a microsecond."""

    __slots__ = ("_task", "_timer", "passed", "reading", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds, self.passed, self.reading = seconds, False, True
        self._task = asyncio.current_task()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._pass)

    def _pass(self) -> None:
        if self._task is not None:
            self.passed = True
            self._task.cancel()

    def end(self) -> None:
        """The request is over."""
        self._timer.cancel()

    def problem(self) -> ProblemError:
        """What to tell the client: who was slow, and what to do; raises on if somebody else cancelled."""
        if not self.passed:
            raise asyncio.CancelledError
        if self._task is not None and hasattr(self._task, "uncancel"):  # from Python 3.11 on
            self._task.uncancel()
        if self.reading:
            detail = f"the request did not arrive as a whole within {self.seconds:g} seconds"
            return ProblemError(408, detail, headers={"connection": "close"})
        detail = f"there was no time for this request within {self.seconds:g} seconds; come back a little later"
        return ProblemError(429, detail, headers={"retry-after": "1"})

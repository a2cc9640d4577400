"""Who is told how far a run is: nobody, a file or pipe line by line, or the log of a program.

A run says what it does by `Progress.following` (its plan) and `Progress.stage` (each stage and its steps). What is made
of it is up to the kind of Progress; `terminal` has the one that draws a bar.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from treetop.progress.course import Course, Leg
from treetop.progress.plan import Plan, Stage, duration

__all__ = ["WORTH_TELLING", "Advance", "Lines", "Logged", "Progress", "remaining", "words"]

WORTH_TELLING = 5.0
"""Seconds that a run must be expected to take before its plan and stages are worth a line."""
_BETWEEN = 30.0  # seconds from one line to the next within a stage
_LOG = logging.getLogger("treetop")


class Advance(Protocol):
    """Moves a stage forward; `note` is shown behind it."""

    def __call__(self, steps: int = 1, note: str = "") -> None: ...


class Progress:
    """Hears of a run and tells nobody. Kinds that tell somebody fill in the hooks at the end."""

    listens = False

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.course: Course | None = None

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()  # a copy, or another process, begins anew

    @contextmanager
    def following(self, make_plan: Callable[[], Plan]) -> Iterator[None]:
        """A block that goes by a plan; one within another is part of it. No plan is made if nobody listens."""
        if not self.listens or self.course is not None:
            yield
            return
        plan = make_plan()
        self.course = Course(plan.stages, self.clock)
        try:
            self._opened(plan)
            yield
        finally:
            self._close()

    @contextmanager
    def stage(self, title: str, total: int | None = None, before: int = 0) -> Iterator[Advance]:
        """A stage as a function `advance(steps)`; `before` of its `total` steps were done in an earlier run."""
        if not self.listens:
            yield _stand_still
            return
        alone = self.course is None
        course = self.course = self.course or Course((Stage(title, 0.0),), self.clock)
        leg = course.begin(title, total, before)
        try:
            if alone:
                self._opened(None)
            self._began(course, leg)

            def advance(steps: int = 1, note: str = "") -> None:
                course.move(leg, steps, note)
                self._moved(course)

            yield advance
        finally:
            course.end(leg)
            self._ended(leg)
            if alone:
                self._close()

    def _close(self) -> None:
        self.course = None
        self._closed()

    def _opened(self, plan: Plan | None) -> None:
        """A run begins; without a plan it is a single stage."""

    def _began(self, course: Course, leg: Leg) -> None:
        """A stage begins."""

    def _moved(self, course: Course) -> None:
        """A stage has moved on."""

    def _ended(self, leg: Leg) -> None:
        """A stage has ended."""

    def _closed(self) -> None:
        """The run has ended, well or not."""


class Lines(Progress):
    """Tells a file or pipe: the plan, a line per stage, and at most one every 30 seconds within it."""

    listens = True

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._last = clock()
        self._every_stage = False

    def say(self, line: str) -> None:
        """One line to standard error, as it is now."""
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def _opened(self, plan: Plan | None) -> None:
        self._last = self.clock()
        self._every_stage = plan is not None and self._worth(plan)
        if plan is not None and self._every_stage:
            self.say(plan.describe())

    def _worth(self, plan: Plan) -> bool:
        return plan.seconds >= WORTH_TELLING

    def _began(self, course: Course, leg: Leg) -> None:
        if self._every_stage and leg.number:
            self._tell(f"{leg.title} ({leg.number} of {course.planned}): {remaining(course)}")

    def _moved(self, course: Course) -> None:
        if self.clock() - self._last >= _BETWEEN:
            self._tell(f"{100 * course.share:.0f} % · {words(course)} · {remaining(course)}")

    def _tell(self, line: str) -> None:
        self._last = self.clock()
        self.say(line)


class Logged(Lines):
    """Tells the log of the name `treetop`, at the level INFO, if a program has asked for that."""

    @property
    def listens(self) -> bool:  # type: ignore[override]
        """Whether anybody reads such records."""
        return _LOG.isEnabledFor(logging.INFO)

    def say(self, line: str) -> None:
        """One record."""
        _LOG.info(line)

    def _worth(self, plan: Plan) -> bool:
        del plan
        return True


def words(course: Course) -> str:
    """The stage under way: its title, its steps, and what it notes."""
    leg = course.under_way[-1] if course.under_way else None
    if leg is None:
        return "…"
    steps = f"{leg.steps:,} of {leg.total:,}" if leg.total else ""
    return " · ".join(part for part in (leg.title, steps, leg.note) if part)


def remaining(course: Course) -> str:
    """How long the run has taken, if that is worth a word, and about how long it will."""
    parts = [f"{duration(course.spent)} so far"] if course.spent >= 1 else []
    return ", ".join([*parts, f"about {duration(course.left)} left"] if course.foreseen else parts)


def _stand_still(steps: int = 1, note: str = "") -> None:
    """What `advance` does when nobody listens."""
    del steps, note

"""Those who listen to a run in tests: a clock that goes when it is told to, and an ear that keeps what it hears."""

from __future__ import annotations

from treetop.progress import Plan, Progress
from treetop.progress.course import Course, Leg


class Clock:
    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


class Kept(Progress):
    """Keeps which stages were planned, which of them came, and which nobody had planned, and how each ended."""

    listens = True

    def __init__(self) -> None:
        super().__init__()
        self.planned: list[str] = []
        self.came: list[str] = []
        self.unplanned: list[str] = []
        self.ended: list[Leg] = []

    def _opened(self, plan: Plan | None) -> None:
        self.planned += [] if plan is None else [stage.title for stage in plan.stages]

    def _began(self, course: Course, leg: Leg) -> None:
        (self.came if leg.number else self.unplanned).append(leg.title)

    def _ended(self, leg: Leg) -> None:
        self.ended.append(leg)

"""How far a run is and how long it has to go, from its plan and from what its stages have really taken.

The time left is known at every moment, also in the middle of a step that takes minutes. A stage that is told in steps
goes on as it has gone so far; a stage ahead takes what the plan says, corrected by what stages of its kind have taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treetop.progress.plan import Stage, kind_of

__all__ = ["Course", "Leg"]

_TRUSTED = 0.1  # From this share of a stage on, its own pace says more than the plan.
_DOUBT = 0.1  # Share of the plan that must have passed before its errors are believed in full.


@dataclass(slots=True)
class Leg:
    """A stage that has begun."""

    title: str
    expected: float
    """Seconds by the plan; 0 if it is not planned."""
    total: int | None
    before: int
    """Steps that were done in an earlier run."""
    began: float
    steps: int = 0
    moved: float = 0.0
    """When the last step ended."""
    note: str = ""
    number: int = 0
    """Its place in the plan, from 1; 0 if it is not planned."""

    @property
    def share(self) -> float:
        """The share of its steps that are done, those of earlier runs included."""
        return min(1.0, self.steps / self.total) if self.total else 0.0

    @property
    def worked(self) -> float:
        """The share of its steps that were done in this run."""
        return max(0.0, min(self.steps, self.total) - self.before) / self.total if self.total else 0.0


class Course:
    """The stages of a run: done, under way, ahead. `clock` gives seconds."""

    def __init__(self, stages: Sequence[Stage], clock: Callable[[], float]) -> None:
        self.planned = len(stages)
        self.ahead = list(stages)
        self.under_way: list[Leg] = []
        self.clock, self.began = clock, clock()
        self._total = sum(stage.seconds for stage in stages)
        self._taken: dict[str, list[tuple[float, float]]] = {}
        self._shown = 0.0

    def begin(self, title: str, total: int | None, before: int = 0) -> Leg:
        """A stage begins: the next one planned under this title, or one within another that no plan knows of."""
        place = next((n for n, stage in enumerate(self.ahead) if stage.title == title), None)
        leg = Leg(title, 0.0, total, before, self.clock(), before, self.clock())
        if place is not None:  # what should have come before it turned out to be needless
            leg.expected = self.ahead[place].seconds
            self.ahead = self.ahead[place + 1 :]
            leg.number = self.planned - len(self.ahead)
        self.under_way.append(leg)
        return leg

    def move(self, leg: Leg, steps: int, note: str) -> None:
        """Some steps of a stage are done."""
        leg.steps, leg.note, leg.moved = leg.steps + steps, note, self.clock()

    def end(self, leg: Leg) -> None:
        """A stage has ended."""
        if leg in self.under_way:
            self.under_way.remove(leg)
        if leg.expected:
            done = leg.worked if leg.total else 1.0
            taken = self._taken.setdefault(kind_of(leg.title), [])
            taken.append((self.clock() - leg.began, leg.expected * done))

    @property
    def current(self) -> Leg | None:
        """The outermost stage under way: those within it are part of it."""
        return self.under_way[0] if self.under_way else None

    @property
    def spent(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self.began

    @property
    def left(self) -> float:
        """Seconds until the run ends, as far as one can tell."""
        ahead = sum(stage.seconds * self._pace(stage.title) for stage in self.ahead)
        return ahead + (self._left_of(self.current) if self.current else 0.0)

    @property
    def foreseen(self) -> bool:
        """Whether there is anything to tell the time left by: a plan, or steps that were done."""
        return self._total > 0 or (self.current is not None and self.current.worked > 0)

    @property
    def share(self) -> float:
        """The share of the run that is over, which never falls."""
        spent, left = self.spent, self.left
        now = spent / (spent + left) if self.foreseen and spent + left > 0 else 0.0
        self._shown = max(self._shown, now)
        return self._shown

    def _left_of(self, leg: Leg) -> float:
        """By the pace of its own steps as soon as there are enough of them; before that by the plan."""
        now, expected = self.clock(), leg.expected * self._pace(leg.title)
        by_plan = max(expected * (1 - leg.share) - (now - leg.moved), (now - leg.moved) / 4)
        if not leg.worked:
            return by_plan
        whole = (leg.moved - leg.began) / leg.worked * (1 - leg.share)
        by_pace = max(whole - (now - leg.moved), whole / 2)
        trust = min(1.0, leg.worked / _TRUSTED) if expected else 1.0
        return trust * by_pace + (1 - trust) * by_plan

    def _pace(self, title: str) -> float:
        """What stages have taken over what the plan said: those of the same kind, or else all."""
        same = self._taken.get(kind_of(title))
        taken = same or [pair for pairs in list(self._taken.values()) for pair in pairs]
        doubt = 0.0 if same else _DOUBT * self._total
        planned = sum(expected for _, expected in taken) + doubt
        return (sum(real for real, _ in taken) + doubt) / planned if planned > 0 else 1.0

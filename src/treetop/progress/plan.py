"""What a run is going to do, and about how long each stage of it will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Plan", "Stage", "duration", "size"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a run, by the title under which it is shown, and about how many seconds it takes."""

    title: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages of a run in their order, the bytes of memory it needs, and its size in a few words."""

    stages: Sequence[Stage] = ()
    memory: int = 0
    task: str = ""

    @property
    def seconds(self) -> float:
        """About how long the run takes."""
        return sum(stage.seconds for stage in self.stages)

    def describe(self) -> str:
        """The plan in one line: what is to be done, and about what it costs."""
        cost = f"about {duration(self.seconds)}, {size(self.memory)} of memory"
        return f"{self.task or 'training'}: {cost} ({', '.join(self._titles())})"

    def _titles(self) -> list[str]:
        """Each kind of stage once, in the order of their beginning, with how often it comes."""
        kinds = [kind_of(stage.title) for stage in self.stages]
        return [kind if kinds.count(kind) == 1 else f"{kinds.count(kind)} × {kind}" for kind in dict.fromkeys(kinds)]


def kind_of(title: str) -> str:
    """A title without the number at its end: stages of one kind are expected to be misjudged alike."""
    return title.rstrip("0123456789 ")


def duration(seconds: float) -> str:
    """Seconds in words as exact as an estimate deserves: 8 s, 45 s, 12 min, 3 h 20 min, 2 days 4 h."""
    if seconds < 90:
        return f"{max(1, round(seconds) if seconds < 10 else 5 * round(seconds / 5))} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours = minutes // 60
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours // 24} days {hours % 24} h"


def size(amount: float) -> str:
    """Bytes in the unit that suits them."""
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"

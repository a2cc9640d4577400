"""How much may be spent on a search: seconds of wall time, CPU-seconds, or a number of trials.

Time decides only how many trials are done. Which trial comes next and which setting is chosen follow from the seed and
from the trials that were done; with a number of trials instead of time, so does everything.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from math import inf

from treetop.errors import ConfigError

__all__ = ["DEFAULT_SECONDS", "Budget", "in_words"]

DEFAULT_SECONDS = 300.0
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class Budget:
    """What is left of the seconds, or of the trials."""

    def __init__(
        self,
        seconds: float | None = DEFAULT_SECONDS,
        trials: int | None = None,
        clock: Callable[[], float] | None = None,
        *,
        cpu: bool = False,
    ) -> None:
        """`cpu`: seconds are those that processors work, which other programs on the machine do not change."""
        if trials is not None and trials < 1:
            raise ConfigError(f"the budget is {trials} trials; give at least one")
        if trials is None and (seconds is None or not seconds > 0):
            raise ConfigError(f"the budget is {seconds} seconds; give more than none, as 60 or 5m")
        self.trials = trials
        self.seconds = seconds if trials is None else None
        self.done = 0
        self.cpu = cpu
        self._clock = clock or (time.process_time if cpu else time.monotonic)
        self._begin = self._clock()

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._begin

    def go_on_from(self, spent: float) -> None:
        """As if so many seconds had been spent: a search that was cut off goes on where it was."""
        self._begin = self._clock() - spent

    @property
    def limit(self) -> float:
        """All seconds there are; no limit where trials are counted."""
        return inf if self.seconds is None else self.seconds

    def has(self, share: float, seconds: float = 0.0, reserve: float = 0.0) -> bool:
        """Whether a trial of so many seconds still fits into this share of the budget, with a reserve kept back."""
        if self.trials is not None:
            return self.done < max(1, round(share * self.trials))
        return self.spent + seconds <= share * max(0.0, self.limit - reserve)

    def growth(self, usual: int) -> float:
        """How many times as large as the usual budget it is, by trainings or by seconds; at least once."""
        if self.trials is not None:
            return max(1.0, self.trials / usual)
        return max(1.0, self.limit / DEFAULT_SECONDS)

    def has_time(self, seconds: float) -> bool:
        """Whether so many seconds are left; always if trials are counted."""
        return self.spent + seconds <= self.limit

    def __str__(self) -> str:
        if self.seconds is None:
            return f"{self.trials} trials"
        return f"{self.seconds:,.0f} {'CPU-seconds' if self.cpu else 's'}"


def in_words(text: str) -> Budget:
    """`300`, `90s`, `5m` and `2h` of time; with `cpu` behind it, as in `5m cpu`, of processors at work."""
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(s|m|min|h|)\s*(cpu|)\s*", text)
    if found is None or not float(found[1]) > 0:
        raise ConfigError(f"the budget is {text!r}; give a time above zero, as 300, 90s, 5m, 2h, or 5mcpu")
    return Budget(float(found[1]) * _UNITS[found[2]], cpu=bool(found[3]))

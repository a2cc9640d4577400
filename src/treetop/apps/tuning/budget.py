"""How much may be spent on a search: seconds of wall time, or a number of trials.

Time decides only how many trials are done. Which trial comes next and which setting is chosen follow from the seed and
from the trials that were done; with a number of trials instead of time, so does everything.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from math import inf

from treetop.errors import ConfigError

__all__ = ["DEFAULT_SECONDS", "Budget", "seconds_of"]

DEFAULT_SECONDS = 300.0
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class Budget:
    """What is left of the seconds, or of the trials."""

    def __init__(
        self,
        seconds: float | None = DEFAULT_SECONDS,
        trials: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if trials is not None and trials < 1:
            raise ConfigError(f"the budget is {trials} trials; give at least one")
        if trials is None and (seconds is None or not seconds > 0):
            raise ConfigError(f"the budget is {seconds} seconds; give more than none, as 60 or 5m")
        self.trials = trials
        self.seconds = seconds if trials is None else None
        self.done = 0
        self._clock = clock
        self._begin = clock()

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._begin

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
        return f"{self.trials} trials" if self.seconds is None else f"{self.seconds:,.0f} s"


def seconds_of(text: str) -> float:
    """`300`, `90s`, `5m` and `2h` as seconds."""
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(s|m|min|h|)\s*", text)
    if found is None or not float(found[1]) > 0:
        raise ConfigError(f"the budget is {text!r}; give a time above zero, as 300, 90s, 5m or 2h")
    return float(found[1]) * _UNITS[found[2]]

"""How long the stages of a prediction take, overheard from what a run says of itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from treetop.progress import Progress
from treetop.progress.telling import Advance

__all__ = ["Stages"]

_NAMES = {"tokenise": "tokenise", "embed": "encode", "rank": "encode", "states": "encode"}
"""Titles of stages in which an encoder is at work; networks rank in the same pass."""


class Stages(Progress):
    """Hears of the stages of a run, and adds up their seconds."""

    def __init__(self) -> None:
        super().__init__()
        self._spent: dict[str, float] = {}

    @contextmanager
    def stage(self, title: str, total: int | None = None, before: int = 0) -> Iterator[Advance]:
        """A stage, timed."""
        start = self.clock()
        try:
            with super().stage(title, total, before) as advance:
                yield advance
        finally:
            name = _NAMES.get(title)
            if name is not None:
                self._spent[name] = self._spent.get(name, 0.0) + self.clock() - start

    def begin(self) -> float:
        """Forget what was; the time now."""
        self._spent = {}
        return time.monotonic()

    def end(self, begun: float) -> dict[str, float]:
        """The seconds of each stage since; what is left is the ranking."""
        spent = self._spent
        return {**spent, "rank": max(0.0, time.monotonic() - begun - sum(spent.values()))}

"""A long time of predictions from eight threads: every answer is right, and memory stays where it is."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from drills.drill import MODELS, Facts
from drills.memory import held
from treetop.methods import Method, load
from treetop.runtime import Runtime

__all__ = ["about_the_soak", "soak"]

THREADS = 8
SPELL = 5.0
"""Seconds of a round."""
WARM_UP = 60.0
"""Seconds until every thread has its buffers; from then on memory is compared."""
GROWTH = 0.01
_TEXTS = ("apple pie", "rain and wind", "cake", "", "topic1 topic2 noise", "snow in the apple tree")
BATCHES = tuple([_TEXTS[:size] for size in range(1, 7)] + [(text,) for text in _TEXTS])


@dataclass
class _Soak:
    """Models that stay loaded and threads that stay alive from the first round to the last."""

    models: list[Method[Any]]
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(THREADS))
    begun: float = field(default_factory=time.monotonic)
    predictions: int = 0
    first: int = 0
    now: int = 0

    def __post_init__(self) -> None:
        self.expected = [[_answer(model, batch) for batch in BATCHES] for model in self.models]

    def ask(self, thread: int, end: float) -> tuple[int, int]:
        """Questions of one thread until the end: how many, and how many answers were wrong."""
        wrong = 0
        for number in count():
            if time.monotonic() > end:
                break
            model, batch = (number + thread) % len(self.models), (number * 7 + thread) % len(BATCHES)
            wrong += _answer(self.models[model], BATCHES[batch]) != self.expected[model][batch]
        return number, wrong


@cache
def _soak() -> _Soak:
    names = sorted(path for path in MODELS.iterdir() if path.is_dir())
    return _Soak([load(path, runtime=Runtime(threads=1)) for path in names])


def soak(place: Path, number: int) -> str:
    """A few seconds of it."""
    del place
    state = _soak()
    end = time.monotonic() + SPELL
    asked = [state.pool.submit(state.ask, thread, end) for thread in range(THREADS)]
    done = [one.result() for one in asked]
    state.predictions += sum(count for count, _ in done)
    wrong = sum(wrong for _, wrong in done)
    state.now = held()
    if not state.first and time.monotonic() - state.begun > WARM_UP:
        state.first = state.now
    if wrong:
        return f"round {number}: {wrong} of {sum(count for count, _ in done)} answers are wrong"
    grown = state.first and state.now / state.first - 1
    return f"round {number}: memory has grown by {grown:.1%} to {state.now:,} bytes" if grown > GROWTH else ""


def about_the_soak() -> Facts:
    """Predictions, and what was held after the warm-up and at the end."""
    state = _soak()
    return {"predictions": state.predictions, "bytes after a minute": state.first, "bytes at the end": state.now}


def _answer(model: Method[Any], batch: tuple[str, ...]) -> list[list[int]]:
    found: list[list[int]] = model.predict(list(batch), k=3).labels.tolist()
    return found

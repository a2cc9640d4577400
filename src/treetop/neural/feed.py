"""Feed: the batches of a step, made ready while an accelerator is still busy with the step before.

There a thread of its own pads the texts of the next step and puts them into memory that the device can read while it
computes; the network is handed tensors that are already on their way. On a CPU there is nobody to wait for: batches are
made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeAlias

from treetop.neural.examples import Batch

__all__ = ["Feed"]

Shares: TypeAlias = list[tuple[Batch, float]]
"""The batches of a step, each with its share of the step's texts."""


class Feed:
    """`make` gives the batches of a step by its number; enter it to have them made ahead."""

    def __init__(self, make: Callable[[int], Shares], device: str, *, ahead: bool | None = None) -> None:
        self._make, self._device = make, device
        self._ahead = device.split(":")[0] != "cpu" if ahead is None else ahead
        self._worker: ThreadPoolExecutor | None = None
        self._next: tuple[int, Future[Shares]] | None = None

    def __enter__(self) -> Feed:
        if self._ahead:
            self._worker = ThreadPoolExecutor(1, "treetop-feed")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._worker is not None:
            self._worker.shutdown(cancel_futures=True)
            self._worker = self._next = None

    def step(self, number: int) -> Shares:
        """The batches of a step, on the device."""
        if self._worker is None:
            return [(batch.to(self._device), share) for batch, share in self._make(number)]
        expected, ready = self._next or (-1, None)
        found = ready.result() if ready is not None and expected == number else self._pinned(number)
        self._next = (number + 1, self._worker.submit(self._pinned, number + 1))
        return [(batch.to(self._device), share) for batch, share in found]

    def _pinned(self, number: int) -> Shares:
        return [(batch.pinned(), share) for batch, share in self._make(number)]

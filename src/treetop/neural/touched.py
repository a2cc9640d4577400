"""Which rows of which weights a batch touches, without waiting for the device more than once.

How many rows there are decides the shapes of their gradients, so the host has to know. Every question to an accelerator
waits until all that was queued before is done; so the levels of a network note their rows while they score, and the
first gradient that is asked for finds out how many there are for all of them together.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["Touched"]


class Touched:
    """The rows of one batch, level by level."""

    def __init__(self) -> None:
        self._marks: list[Tensor] = []
        self._counts: list[int] = []

    def note(self, nodes: Tensor, rows: int) -> int:
        """Note that a level of so many rows was asked for some nodes, below 0 for none; the number of the note."""
        mark = torch.zeros(rows + 1, dtype=torch.bool, device=nodes.device)
        mark[nodes.masked_fill(nodes < 0, rows)] = True  # the sentinel lies behind all rows
        self._marks.append(mark[:rows])
        return len(self._marks) - 1

    def rows(self, note: int) -> tuple[Tensor, Tensor]:
        """The rows of a note in ascending order, and for each row of the level its place among them (-1: before)."""
        if len(self._counts) < len(self._marks):
            self._counts = torch.stack([mark.sum() for mark in self._marks]).to("cpu", copy=True).tolist()
        mark = self._marks[note]
        return torch.nonzero_static(mark, size=self._counts[note])[:, 0], mark.cumsum(0) - 1

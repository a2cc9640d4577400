"""What the frozen layers of an encoder make of every token, computed once and kept in a file.

The file has no name: it is gone when the training ends, however it ends. Numbers are kept in 16 bits, 2·width bytes per
token: 15,000 texts of 30 tokens under an encoder of 384 numbers take 350 MB.
"""

from __future__ import annotations

import shutil
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.errors import StoreError
from treetop.types import Dense

__all__ = ["FrozenStates", "ranges"]


class FrozenStates:
    """A state per token of every text: `put` those of some texts, `pad` those of a batch."""

    def __init__(self, lengths: NDArray[Any], width: int, folder: str | PathLike[str] | None = None) -> None:
        self.size = np.asarray(lengths, np.int64)
        self.start = np.cumsum(self.size) - self.size
        shape = (max(1, int(self.size.sum())), width)
        place = Path(folder or tempfile.gettempdir())
        needed, free = 2 * shape[0] * width, shutil.disk_usage(place).free
        if needed > free:
            gib = f"{needed / 2**30:.1f} GiB for the states of frozen layers, and {free / 2**30:.1f} are free"
            raise StoreError(f"no room: {gib}; make room, or set encoder.keep_frozen=false", path=place)
        with tempfile.TemporaryFile(dir=place) as file:
            file.truncate(needed)
            self.values = np.memmap(file, np.float16, "r+", shape=shape)

    def put(self, rows: NDArray[Any], mask: NDArray[Any], states: Dense) -> None:
        """Keep the states of a batch: those of its real tokens."""
        self.values[ranges(self.start[rows], self.size[rows])] = states[mask > 0]

    def pad(self, rows: NDArray[Any], mask: NDArray[Any]) -> Dense:
        """The states of a batch, zero where the mask is."""
        states = np.zeros((*mask.shape, self.values.shape[1]), np.float32)
        states[mask > 0] = self.values[ranges(self.start[rows], self.size[rows])]
        return states


def ranges(start: NDArray[Any], size: NDArray[Any]) -> NDArray[np.int64]:
    """start[0], start[0] + 1, … for `size[0]` numbers, then the same for each further range."""
    total = np.cumsum(size)
    steps = np.arange(int(total[-1]) if len(total) else 0, dtype=np.int64)
    result: NDArray[np.int64] = steps + np.repeat(start - (total - size), size)
    return result

"""What the frozen layers of an encoder make of every token, computed once and kept in a file.

In a folder of checkpoints the file stays for a run that is interrupted and resumed; elsewhere it has no name and is
gone with the process. Numbers are kept in 16 bits, 2·width bytes per token: 15,000 texts of 30 tokens under an encoder
of 384 numbers take 350 MB.
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

__all__ = ["KEPT", "FrozenStates", "forget_states", "ranges"]

PREFIX = "frozen-"
KEPT = "states-"
"""How files of states begin that a training keeps until it ends."""


class FrozenStates:
    """A state per token of every text: `put` those of some texts, `pad` those of a batch.

    With a `folder` and a `name`, which says what they were made from, they are found there again: `complete` tells.
    """

    def __init__(
        self, lengths: NDArray[Any], width: int, folder: str | PathLike[str] | None = None, name: str = ""
    ) -> None:
        self.size = np.asarray(lengths, np.int64)
        self.start = np.cumsum(self.size) - self.size
        shape = (max(1, int(self.size.sum())), width)
        place, needed = Path(folder or tempfile.gettempdir()), 2 * shape[0] * width
        self._file = place / f"{PREFIX}{name}" if folder and name else None
        self.complete = False
        if self._file is not None:
            if self._file.exists() and self._file.stat().st_size == needed:
                self.values, self.complete = np.memmap(self._file, np.float16, "r", shape=shape), True
                return
            self._part.unlink(missing_ok=True)  # of a run that was killed before all were there
        _check_room(place, needed)
        try:
            with self._part.open("w+b") if self._file is not None else tempfile.TemporaryFile(dir=place) as file:
                file.truncate(needed)
                self.values = np.memmap(file, np.float16, "r+", shape=shape)
        except OSError as error:
            problem = f"the states of frozen layers cannot be kept here ({error.strerror or error})"
            raise StoreError(f"{problem}; make room, or set encoder.keep_frozen=false", path=place) from error

    @property
    def _part(self) -> Path:
        assert self._file is not None
        return self._file.with_name(self._file.name + ".part")

    def finish(self) -> None:
        """All states are put: from here on they are found again."""
        if self._file is not None and not self.complete:
            self.values.flush()
            self._part.replace(self._file)
            self.complete = True

    def put(self, rows: NDArray[Any], mask: NDArray[Any], states: Dense) -> None:
        """Keep the states of a batch: those of its real tokens."""
        self.values[ranges(self.start[rows], self.size[rows])] = states[mask > 0]

    def pad(self, rows: NDArray[Any], mask: NDArray[Any], ending: int = 0) -> Dense:
        """The states of a batch, zero where the mask is.

        A text that the mask has fewer places for is cut just before its last `ending` tokens, the special ones; what is
        left was made of the whole text.
        """
        shown = (mask > 0).sum(1)
        place = ranges(np.zeros_like(shown), shown)
        ends = place >= np.repeat(shown - ending, shown)
        place += np.repeat(self.start[rows], shown) + ends * np.repeat(self.size[rows] - shown, shown)
        states = np.zeros((*mask.shape, self.values.shape[1]), np.float32)
        states[mask > 0] = self.values[place]
        return states


def forget_states(folder: str | PathLike[str]) -> None:
    """Remove the states kept in a folder: the training that needed them is over."""
    for file in [*Path(folder).glob(f"{PREFIX}*"), *Path(folder).glob(f"{KEPT}*")]:
        file.unlink(missing_ok=True)


def _check_room(place: Path, needed: int) -> None:
    free = shutil.disk_usage(place).free
    if needed > free:
        gib = f"{needed / 2**30:.1f} GiB for the states of frozen layers, and {free / 2**30:.1f} are free"
        raise StoreError(f"no room: {gib}; make room, or set encoder.keep_frozen=false", path=place)


def ranges(start: NDArray[Any], size: NDArray[Any]) -> NDArray[np.int64]:
    """start[0], start[0] + 1, … for `size[0]` numbers, then the same for each further range."""
    total = np.cumsum(size)
    steps = np.arange(int(total[-1]) if len(total) else 0, dtype=np.int64)
    result: NDArray[np.int64] = steps + np.repeat(start - (total - size), size)
    return result

"""TensorBoard: the log of a training run as curves, if the package is there (extra `tensorboard`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "Board"]

FOLDER = "tensorboard"
"""Events are in a folder of this name beside the checkpoints of a run."""


class Board:
    """Writes what is logged as TensorBoard events; without the package it writes nothing."""

    def __init__(self, folder: Path, *, from_step: int = 0) -> None:
        """Curves go on from a step; what an interrupted run has written after it is hidden."""
        self._writer: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        make: Any = SummaryWriter
        self._writer = make(str(folder), purge_step=from_step + 1)

    def add(self, record: Mapping[str, Any]) -> None:
        """One point on the curve of every number in a record, at its `step`; on disk at once."""
        if self._writer is not None:
            for name, value in record.items():
                if name != "step":
                    self._writer.add_scalar(name, value, record["step"])
            self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()

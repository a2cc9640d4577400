"""Checkpoints: everything a training run needs to continue as if nothing had happened, in safetensors and JSON.

A checkpoint is a folder `step-000500`, written beside and renamed, so that it exists whole or not at all; the one
before it is removed afterwards. Randomness needs no saving: that of a step depends only on the seed and its number.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treetop.errors import ConfigError, StoreError
from treetop.neural.board import FOLDER as BOARD, Board
from treetop.store import Folder, Late, whole_file

__all__ = ["UNESSENTIAL", "Checkpoints", "claim", "optimiser_state", "restore_optimiser"]

RUN = "run.json"
_NAMES = "tensors"
UNESSENTIAL = ("checkpoint_every", "checkpoint_minutes", "heads", "log_every")
"""Options that may differ when a run is resumed, as they do not change what is learned."""


def _late(tensor: Tensor | Late) -> Late:
    """One tensor after the other comes from its device when it is written."""
    if isinstance(tensor, Late):
        return tensor
    kind = torch.empty(0, dtype=tensor.dtype).numpy().dtype
    return Late(kind, tuple(tensor.shape), lambda: tensor.detach().cpu().contiguous().numpy())


class Checkpoints:
    """The checkpoints and the log of one training run, in one folder; without a folder nothing is kept."""

    def __init__(self, folder: str | PathLike[str] | None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._board: Board | None = None
        self._from_step = 0

    def write(self, step: int, state: Mapping[str, Any], tensors: Mapping[str, Tensor | Late]) -> None:
        """Write one checkpoint, then remove older ones."""
        if self.folder is None:
            return
        target = self.folder / f"step-{step:09d}"
        shutil.rmtree(target, ignore_errors=True)
        with Folder.create(target) as folder:
            folder.write_tensors("tensors.safetensors", {name: _late(tensor) for name, tensor in tensors.items()})
            folder.write_json("state.json", {**state, _NAMES: sorted(tensors)})
        for old in self._all():
            if old != target:
                shutil.rmtree(old, ignore_errors=True)

    def newest(
        self, part: Callable[[str, NDArray[Any]], NDArray[Any]] = lambda _, whole: whole
    ) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
        """State and tensors of the newest checkpoint, if there is one; `part` says which rows of each are wanted."""
        found = self._all()
        if not found:
            return None
        with self.understood():
            folder = Folder.open(found[-1])
            tensors, state = folder.read_tensors("tensors.safetensors"), folder.read_json("state.json")
            if state.pop(_NAMES, sorted(tensors)) != sorted(tensors):  # older checkpoints do not name them
                raise StoreError("it has other tensors than were written", path=folder.path)
            wanted = {name: part(name, rows) for name, rows in tensors.items()}
            return state, {name: torch.from_numpy(np.array(a)) for name, a in wanted.items()}

    @contextmanager
    def understood(self) -> Iterator[None]:
        """A block that makes sense of the newest checkpoint: whatever it stumbles over is damage."""
        try:
            yield
        except ConfigError:
            raise
        except Exception as error:
            raise StoreError(
                f"this checkpoint is damaged or cut short ({str(error) or repr(error):.400}); "
                "remove it to begin this training again",
                path=self._all()[-1],
            ) from error

    @property
    def begun(self) -> bool:
        """Whether there is a checkpoint to continue from."""
        return bool(self._all())

    def _all(self) -> list[Path]:
        return [] if self.folder is None or not self.folder.is_dir() else sorted(self.folder.glob("step-*"))

    def log(self, record: Mapping[str, Any]) -> None:
        """Append one line to log.jsonl, and a point to TensorBoard's curves if it is installed."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / "log.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            self._board = self._board or Board(self.folder / BOARD, from_step=self._from_step)
            self._board.add(record)

    def rewind_log(self, records: list[dict[str, Any]]) -> None:
        """Forget what was logged after the checkpoint a run resumes from."""
        self._from_step = max((record["step"] for record in records), default=0)
        if self.folder is not None and (self.folder / "log.jsonl").exists():
            lines = "".join(json.dumps(record) + "\n" for record in records)
            (self.folder / "log.jsonl").write_text(lines, encoding="utf-8")

    def close(self) -> None:
        """End the log."""
        if self._board is not None:
            self._board.close()

    def check_same(self, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Refuse to continue a run under other settings than it was begun with."""
        _check_same(self.folder, then, now)


def claim(path: str | PathLike[str], run: Mapping[str, Any]) -> None:
    """Make a folder that of the run described, or refuse if it is already that of another one."""
    folder, now = Folder(Path(path)), json.loads(json.dumps(_flat(run)))
    if folder.has(RUN):
        then = folder.read_json(RUN)
        if not isinstance(then, dict):
            raise StoreError("does not say which run this is; remove the folder to begin again", path=folder.path / RUN)
        _check_same(path, then, now)
        return
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"checkpoints cannot be kept here ({error.strerror or error}); choose another place for the model"
        raise StoreError(problem, path=folder.path) from error
    with whole_file(folder.path / RUN) as file:
        file.write(json.dumps(now, indent=2) + "\n")


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as `optim.lr`, without those that do not matter."""
    rows: dict[str, Any] = {}
    for name, value in values.items():
        if name not in UNESSENTIAL:
            rows |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {prefix + name: value}
    return rows


def _check_same(folder: str | PathLike[str] | None, then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    different = [key for key in now if then.get(key) != now[key]]
    if different:
        key = different[0]
        raise ConfigError(
            f"{folder} holds a run with {key}={then.get(key)}, now it is {now[key]}; "
            "continue with the same settings and data, or give another folder"
        )


def optimiser_state(optimiser: torch.optim.Optimizer, names: Mapping[Tensor, str]) -> dict[str, Tensor]:
    """The moments and counters of an optimiser by parameter name."""
    return {f"{names[p]}|{key}": value for p, state in optimiser.state.items() for key, value in state.items()}


def restore_optimiser(
    optimiser: torch.optim.Optimizer, parameters: Mapping[str, Tensor], tensors: Mapping[str, Tensor]
) -> None:
    """Put saved moments and counters back where the optimiser has them: `owed` on the CPU, others with the weights."""
    own = {id(p) for group in optimiser.param_groups for p in group["params"]}
    for full_name, tensor in tensors.items():
        name, key = full_name.rsplit("|", 1)
        parameter = parameters[name]
        if id(parameter) in own:
            optimiser.state[parameter][key] = tensor if key == "owed" else tensor.to(parameter.device)

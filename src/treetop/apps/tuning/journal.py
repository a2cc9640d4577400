"""The trials of a search in a file, one per line as they are done, so that an interrupted search can go on.

The order of trials follows from the data, the seed and the trials before, so a search that goes on asks for the same
ones again; those that are in the file are not done anew.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from treetop.apps.tuning.budget import Budget
from treetop.apps.tuning.space import Setting
from treetop.apps.tuning.trial import Trial
from treetop.errors import ConfigError, StoreError
from treetop.metrics import Spread

__all__ = ["Journal"]

_COSTS = ("seconds", "cpu_seconds", "megabytes", "milliseconds")


class Journal:
    """Trials by the number of texts and the setting; without a path they are kept nowhere."""

    def __init__(self, path: Path | None = None, facts: dict[str, Any] | None = None, *, resume: bool = False) -> None:
        """`facts` are what the search depends on: a file with others is of another search, and refused."""
        self.path = path
        self._known: dict[tuple[int, Setting], tuple[list[Trial], float]] = {}
        if path is None:
            return
        if path.exists() and not resume:
            raise ConfigError(f"{path} holds an interrupted search; go on with --resume, or remove it")
        if path.exists():
            self._read(path, facts or {})
        else:
            path.write_text(json.dumps(facts or {}) + "\n", encoding="utf-8")

    def trials(self, texts: int, setting: Setting, do: Callable[[], list[Trial]], budget: Budget) -> list[Trial]:
        """The trials of a training, which is done if it was not before; if it was, its time counts as spent."""
        if (texts, setting) in self._known:
            trials, spent = self._known[texts, setting]
            budget.go_on_from(spent)
            return trials
        trials = do()
        self._write(setting, trials, budget.spent)
        return trials

    def finish(self) -> None:
        """Remove the file: what the search found is written elsewhere now."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _write(self, setting: Setting, trials: list[Trial], spent: float) -> None:
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                line = {"trained": setting, "spent": spent, "trials": [_packed(trial) for trial in trials]}
                file.write(json.dumps(line) + "\n")

    def _read(self, path: Path, facts: dict[str, Any]) -> None:
        try:
            written, *lines = _whole_lines(path)
            for line in lines:
                trials = [_unpacked(one) for one in line["trials"]]
                self._known[trials[0].texts, tuple(line["trained"])] = trials, float(line["spent"])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise StoreError(f"this is no record of a search ({error}); remove it", path=path) from error
        other = [name for name in facts if written.get(name) != facts[name]]
        if other:
            raise ConfigError(
                f"{path} is of another search ({other[0]} was {written.get(other[0])}, now it is {facts[other[0]]}); "
                "repeat the same command, or remove it"
            )


def _whole_lines(path: Path) -> list[Any]:
    """The lines that were written to their end; what was cut off is removed, so that the next one can follow."""
    whole, _, begun = path.read_bytes().rpartition(b"\n")
    if begun:
        path.write_bytes(whole + b"\n")
    return [json.loads(line) for line in whole.splitlines()]


def _packed(trial: Trial) -> dict[str, Any]:
    each = trial.score.each.astype("<f4").tobytes()
    return {
        "setting": trial.setting,
        "texts": trial.texts,
        "metrics": trial.metrics,
        "score": trial.score.value,
        "each": base64.b64encode(each).decode("ascii"),
        "weights": trial.weights,
        **{name: getattr(trial, name) for name in _COSTS},
    }


def _unpacked(facts: dict[str, Any]) -> Trial:
    each = np.frombuffer(base64.b64decode(facts["each"]), "<f4").astype(np.float64)
    values = {name: facts[name] for name in ("texts", "metrics", "weights", *_COSTS)}
    return Trial(setting=tuple(facts["setting"]), score=Spread(facts["score"], each), **values)

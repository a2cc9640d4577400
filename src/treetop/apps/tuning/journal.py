"""The trials of a search in a file, one per line as they are done, so that an interrupted search can go on.

The order of trials follows from the data, the seed and the trials before, so a search that goes on asks for the same
ones again; those that are in the file are not done anew.
"""

from __future__ import annotations

import base64
import json
import math
import os
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
_LONGEST_REASON = 200
_MOST = 2**62


class Journal:
    """Trials by fold, number of texts and setting; without a path they are kept nowhere."""

    def __init__(self, path: Path | None = None, facts: dict[str, Any] | None = None, *, resume: bool = False) -> None:
        """`facts` are what the search depends on: a file with others is of another search, and refused."""
        self.path = path
        self._known: dict[tuple[int, int, Setting], tuple[list[Trial], float]] = {}
        if path is None:
            return
        if path.exists() and not resume:
            raise ConfigError(f"{path} holds an interrupted search; go on with --resume, or remove it")
        if path.exists():
            self._read(path, facts or {})
        else:
            path.write_text(json.dumps(facts or {}) + "\n", encoding="utf-8")

    def trials(
        self, texts: int, setting: Setting, do: Callable[[], list[Trial]], budget: Budget, *, fold: int = 0
    ) -> list[Trial]:
        """The trials of a training, which is done if it was not before; if it was, its time counts as spent."""
        if (fold, texts, setting) in self._known:
            trials, spent = self._known[fold, texts, setting]
            budget.go_on_from(max(spent, budget.spent))
            return trials
        trials = do()
        self._write(fold, setting, trials, budget.spent)
        return trials

    def check(self, trials: list[Trial], settings: list[Setting], metrics: tuple[str, ...], judged: int) -> None:
        """Refuse trials of a line that cannot be those of this training: other rankings, metrics, held-out texts."""
        same = [one.setting for one in trials] == settings
        if not same or any(tuple(one.metrics) != metrics or len(one.score.each) != judged for one in trials):
            raise StoreError("a line is not of this search; remove the file", path=self.path or "")

    def _write(self, fold: int, setting: Setting, trials: list[Trial], spent: float) -> None:
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                line = {
                    "fold": fold,
                    "trained": setting,
                    "spent": spent,
                    "trials": [_packed(trial) for trial in trials],
                }
                file.write(json.dumps(line) + "\n")

    def _read(self, path: Path, facts: dict[str, Any]) -> None:
        try:
            written, *lines = _whole_lines(path)
            other = [name for name in facts if written.get(name) != facts[name]]
            for line in lines if not other else ():
                trials = [_unpacked(one) for one in line["trials"]]
                key = (_number(line["fold"], whole=True), trials[0].texts, tuple(line["trained"]))
                self._known[key] = trials, _number(line["spent"])
        except Exception as error:  # whatever JSON that is not ours leads to
            said = " ".join(str(error).split())[:_LONGEST_REASON] or repr(error)
            raise StoreError(f"this is no record of a search ({said}); remove it", path=path) from error
        if other:
            raise ConfigError(
                f"{path} is of another search ({other[0]} was {written.get(other[0])}, now it is {facts[other[0]]}); "
                "repeat the same command, or remove it"
            )


def _whole_lines(path: Path) -> list[Any]:
    """The lines that were written to their end; what was cut off is removed, so that the next one can follow."""
    whole, _, begun = path.read_bytes().rpartition(b"\n")
    if begun:
        os.truncate(path, len(whole) + 1)
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
    each = np.frombuffer(base64.b64decode(facts["each"], validate=True), "<f4").astype(np.float64)
    values = {name: _number(facts[name], whole=True) for name in ("texts", "weights")}
    values |= {name: _number(facts[name]) for name in _COSTS}
    metrics = {name: _number(value) for name, value in facts["metrics"].items()}
    return Trial(
        setting=tuple(_number(answer, whole=True) for answer in facts["setting"]),
        metrics=metrics,
        score=Spread(_number(facts["score"]), each),
        **values,
    )


def _number(value: Any, *, whole: bool = False) -> Any:
    """A number that a trial can have."""
    fits = type(value) is int or (type(value) is float and not whole and math.isfinite(value))
    if not fits or not 0 <= value < _MOST:
        raise ValueError(f"{str(value)[:40]!r} is no such number")
    return value

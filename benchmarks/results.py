"""Committed rows, read back: the newest run of each entry on each task, its repeats summed up by their medians."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

__all__ = ["Result", "newest", "read_rows"]

Row = dict[str, Any]
TRAINING = ("pifa", "tree", "train")


@dataclass(frozen=True)
class Result:
    """All repeats of one entry on one task in its newest run."""

    rows: tuple[Row, ...]

    @property
    def last(self) -> Row:
        """The newest row that worked, or else the newest."""
        worked = [row for row in self.rows if not row["error"]]
        return (worked or list(self.rows))[-1]

    @property
    def error(self) -> str | None:
        """Why there are no figures; None if any repeat worked."""
        error: str | None = self.last["error"]
        return error

    @property
    def entry(self) -> str:
        return str(self.last["entry"])

    @property
    def title(self) -> str:
        return str(self.last["title"])

    @property
    def peer(self) -> str:
        return str(self.last["peer"])

    @property
    def variant(self) -> bool:
        """Whether it is another entry's model, so that only its cost differs."""
        return bool(self.last.get("variant"))

    @property
    def task(self) -> Row:
        task: Row = self.last["task"]
        return task

    def value(self, *path: str) -> float | None:
        """The median over repeats of the number at this path of names, for costs; None if no row has it."""
        found = self._all(path)
        return median(found) if found else None

    def mean(self, *path: str) -> float | None:
        """The mean over repeats, which have different seeds, for quality."""
        found = self._all(path)
        return fmean(found) if found else None

    def difference(self, metric: str) -> tuple[float, float] | None:
        """From the reference, text by text: the mean over repeats, and the standard error of one of them."""
        pairs = self._all(("paired", metric))
        return (fmean(value for value, _ in pairs), fmean(error for _, error in pairs)) if pairs else None

    def _all(self, path: tuple[str, ...]) -> list[Any]:
        return [value for row in self.rows if not row["error"] and (value := _at(row, path)) is not None]

    def training(self, unit: str) -> float | None:
        """Label representation, tree and classifiers together: their `wall` or `cpu` seconds, or their largest peak."""
        parts = [value for stage in TRAINING if (value := self.value("stages", stage, unit)) is not None]
        if not parts:
            return None
        return max(parts) if unit == "peak_rss_mib" else sum(parts)


def read_rows(folder: Path) -> list[Row]:
    """All rows of all files, oldest first."""
    paths = sorted(folder.glob("*.jsonl"))
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines() if line]
    return sorted(rows, key=lambda row: row["time"])


def newest(rows: Iterable[Row], kind: str) -> dict[str, list[Result]]:
    """Results by task, in the order in which tasks and entries were first measured."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["kind"] == kind:
            groups[row["task"]["name"], row["entry"]].append(row)
    tasks: dict[str, list[Result]] = defaultdict(list)
    for (task, _), group in groups.items():
        run = group[-1]["run"]
        tasks[task].append(Result(tuple(row for row in group if row["run"] == run)))
    return dict(tasks)


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value

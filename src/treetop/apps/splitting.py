"""How the command line splits data: which rows go where, and the folder of JSON lines that comes of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop.data import Corpus, Dataset
from treetop.data.columns import column
from treetop.data.splitting import Rows, rows_by_group, rows_by_ratio, rows_by_time
from treetop.errors import ConfigError, DataError, StoreError
from treetop.store import Folder

__all__ = ["Parts", "check_shares", "check_target", "parts_of", "write_parts"]

Parts: TypeAlias = dict[str, NDArray[np.int64]]
"""Row numbers of train, dev and test."""
_Cut: TypeAlias = Callable[[NDArray[np.int64], float], Rows]


def check_shares(test: float, dev: float) -> None:
    """Refuse shares that leave nothing to learn from."""
    if not (0 < test < 1 and 0 <= dev < 1 and test + dev < 1):
        problem = f"--test is {test} and --dev is {dev}"
        raise ConfigError(f"{problem}; give shares of the texts that are below 1 together, and 0 for no dev texts")


def check_target(out: Path) -> None:
    """Refuse to write where something is already."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise StoreError("exists already; choose another name or remove it", path=out)


def parts_of(
    corpus: Corpus,
    others: Sequence[dict[str, Any]],
    *,
    test: float,
    dev: float,
    by_time: str | None = None,
    group: str | None = None,
    seed: int = 0,
) -> Parts:
    """Which rows are for training, for choosing and for testing; a text that occurs twice is in one of them only."""
    if by_time is not None and group is not None:
        raise ConfigError("--by-time and --group were both given; a split goes by one of them")
    cut = _cut(corpus, others, by_time, group, seed)
    rest, tested = cut(np.arange(len(corpus)), 1 - test)
    if not dev:
        return {"train": rest, "test": tested}
    train, chosen = cut(rest, 1 - dev / (1 - test))
    return {"train": train, "dev": chosen, "test": tested}


def _cut(corpus: Corpus, others: Sequence[dict[str, Any]], by_time: str | None, group: str | None, seed: int) -> _Cut:
    """What cuts some rows in two."""
    if by_time is None and group is None:
        return lambda rows, ratio: _numbered(rows, rows_by_ratio(corpus.take(rows), ratio, seed))
    values = np.array(column(others, by_time or group or ""), dtype=object)
    by = partial(rows_by_group, seed=seed) if by_time is None else rows_by_time
    return lambda rows, ratio: _numbered(rows, by(corpus.take(rows), list(values[rows]), ratio=ratio))


def _numbered(rows: NDArray[np.int64], parts: Rows) -> Rows:
    return rows[parts[0]], rows[parts[1]]


def write_parts(
    out: Path, dataset: Dataset, others: Sequence[dict[str, Any]], parts: Parts, *, compress: bool = False
) -> None:
    """A folder with a file of JSON lines for each part: texts, label names and all other columns; all or nothing."""
    if not len(dataset.corpus.texts):
        raise DataError("the data has features but no texts, which cannot be written as JSON lines; split the matrices")
    check_target(out)
    with Folder.create(out, sealed=False) as folder:
        for name, rows in parts.items():
            lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in _records(dataset, others, rows))
            path = folder.path / f"{name}.jsonl{'.gz' if compress else ''}"
            with gzip.open(path, "wt", encoding="utf-8") if compress else path.open("w", encoding="utf-8") as file:
                file.writelines(lines)


def _records(dataset: Dataset, others: Sequence[dict[str, Any]], rows: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    weighted = bool(np.any(dataset.labels.data != 1))
    for row in rows.tolist():
        beside: Mapping[str, Any] = others[row] if others else {}
        yield {**beside, "text": dataset.corpus.texts[row], "labels": _labels(dataset, row, weighted)}


def _labels(dataset: Dataset, row: int, weighted: bool) -> list[str] | dict[str, float]:
    labels, names = dataset.labels, dataset.space.names
    here = slice(labels.indptr[row], labels.indptr[row + 1])
    own = [names[label] for label in labels.indices[here]]
    return dict(zip(own, labels.data[here].tolist(), strict=True)) if weighted else own

"""Columns of the comparison tables: what they show, which way is better, and who leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from benchmarks.results import Result

__all__ = ["CLOSING", "COST", "QUALITY", "Column", "by_cost", "comparison", "figure", "leader", "markdown"]

Value = Callable[[Result], float | None]


@dataclass(frozen=True)
class Column:
    """A number of every row."""

    title: str
    value: Value
    higher_is_better: bool = False
    metric: str | None = None
    """Its name among the paired differences, if it has one."""

    def show(self, number: float | None) -> str:
        if number is None:
            return "–"
        return f"{100 * number:.2f}" if self in QUALITY else figure(number)


def _metric(name: str) -> Column:
    return Column(name.upper().replace("NDCG", "nDCG"), lambda row: row.mean("metrics", name), True, name)


def _band(name: str) -> Column:
    return Column(f"{name} found@5", lambda row: row.mean("bands", name, "found@5"), True)


def _texts_per_second(row: Result) -> float | None:
    texts, wall = row.value("texts"), row.value("stages", "batch", "wall")
    return texts / wall if texts and wall else None


def _megabytes(row: Result) -> float | None:
    size = row.value("model_bytes")
    return None if size is None else size / 1e6


QUALITY = (
    *(_metric(name) for name in ("p@1", "p@3", "p@5", "r@10", "ndcg@5", "psp@1", "psp@3", "psp@5")),
    *(_band(name) for name in ("head", "torso", "tail")),
)
COST = (
    Column("train CPU s", lambda row: row.training("cpu")),
    Column("train wall s", lambda row: row.training("wall")),
    Column("train peak MiB", lambda row: row.training("peak_rss_mib")),
    Column("model MB", _megabytes),
    Column("load s", lambda row: row.value("stages", "load", "wall")),
    Column("texts per s", _texts_per_second, True),
    Column("one p50 ms", lambda row: row.value("one", "p50_ms")),
    Column("one p99 ms", lambda row: row.value("one", "p99_ms")),
    Column("predict peak MiB", lambda row: row.value("stages", "batch", "peak_rss_mib")),
)
CLOSING = (*QUALITY[:4], *(column for column in COST if column.title in ("train CPU s", "model MB", "texts per s")))
"""Columns of the table that closes a run."""


def by_cost(results: Sequence[Result]) -> list[Result]:
    """From the cheapest training to the dearest, in CPU-seconds; rows without figures last."""
    return sorted(results, key=lambda row: inf if (cost := row.training("cpu")) is None else cost)


def figure(number: float) -> str:
    """Three digits that matter; thousands in groups."""
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def leader(results: Sequence[Result], column: Column) -> Result | None:
    """The row with the best number."""
    having = [row for row in results if column.value(row) is not None]
    sign = -1 if column.higher_is_better else 1
    return min(having, key=lambda row: sign * (column.value(row) or 0.0), default=None)


def comparison(results: Sequence[Result], columns: Sequence[Column]) -> str:
    """A Markdown table, the best of each column in bold; rows without figures are left to another table."""
    working = [row for row in results if row.error is None]
    best = {column: leader(working, column) for column in columns}
    lines = []
    for row in working:
        cells = [column.show(column.value(row)) for column in columns]
        bold = [f"**{cell}**" if best[column] is row else cell for cell, column in zip(cells, columns, strict=True)]
        lines.append([row.title, *bold])
    return markdown(["", *(column.title for column in columns)], lines)


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]], words: int = 1) -> str:
    """A Markdown table with numbers to the right; the first columns are words."""
    rules = [*["---"] * words, *["---:"] * (len(head) - words)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rules, *lines))

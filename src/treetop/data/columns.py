"""The columns of a file beside its texts and labels, row by row: what a split keeps, and what it may go by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from treetop.data.fields import Fields, absent
from treetop.data.jsonl import file_objects
from treetop.data.layout import RECORDS, canonical_split, file_source, folder_sources
from treetop.data.lines import Place
from treetop.data.tables import column_names, table_records
from treetop.data.tally import Tally
from treetop.errors import DataError

__all__ = ["column", "read_columns"]

_PLAIN = (str, int, float, bool, list, dict, type(None))


def read_columns(
    source: str | PathLike[str],
    *,
    split: str = "train",
    text: str | Sequence[str] = "text",
    labels: str = "labels",
    weights: str | None = None,
    encoding: str | None = None,
) -> list[dict[str, Any]]:
    """For each row that `read` reads from the same file, the values of all other columns, as JSON can hold them.

    Formats without columns, such as svmlight, have an empty list.
    """
    where, fields = Path(source), Fields(text=text, labels=labels, weights=weights)
    with Place(where):
        files = folder_sources(where)[canonical_split(split)] if where.is_dir() else file_source(where)
        if files.kind not in RECORDS:
            return []
        rows = _frame_rows if files.kind in ("frame", "sheet") else _json_rows if files.kind == "jsonl" else _table_rows
        return [row for path in files.paths for row in rows(path, fields, Tally(encoding=encoding))]


def column(rows: Sequence[dict[str, Any]], name: str) -> list[Any]:
    """The values of one of the columns; None where a row has none."""
    there = dict.fromkeys(key for row in rows for key in row)
    if name not in there:
        raise DataError(str(absent("column", name, there, "name one beside those of texts and labels")))
    return [row.get(name) for row in rows]


def _json_rows(path: Path, fields: Fields, tally: Tally) -> Iterator[dict[str, Any]]:
    used = set(fields.wanted)
    for _, record in file_objects(path, None, tally):
        yield {name: value for name, value in record.items() if name not in used}


def _table_rows(path: Path, fields: Fields, tally: Tally) -> Iterator[dict[str, Any]]:
    wanted = fields.wanted
    others = [name for name in column_names(path, wanted, tally) if name not in wanted]
    for _, cells in table_records(path, wanted, optional=others, tally=tally):
        yield dict(zip(others, cells[len(wanted) :], strict=True))


def _frame_rows(path: Path, fields: Fields, tally: Tally) -> Iterator[dict[str, Any]]:
    from treetop.data import frames  # polars is loaded only for what needs it

    del tally
    wanted = fields.wanted
    others = [name for name in frames.column_names(path) if name not in wanted]
    for frame in frames.frames(path, wanted, optional=others):
        for row in frame.select(others).iter_rows(named=True) if others else [{} for _ in range(len(frame))]:
            yield {name: value if isinstance(value, _PLAIN) else str(value) for name, value in row.items()}

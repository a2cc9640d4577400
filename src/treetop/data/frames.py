"""Tables with typed columns, a few thousand rows at a time: parquet, Arrow (feather), Excel, and polars' own.

A column of texts, or several; a column of labels: lists, or strings with a separator, or one label each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from treetop.data.arrow import check_batches, is_file
from treetop.data.fields import Fields, absent, joined
from treetop.data.intake import Intake
from treetop.data.limits import check_expansion
from treetop.data.lines import Place
from treetop.data.panics import unprinted
from treetop.data.parquet import check_pages
from treetop.data.separators import SAMPLE
from treetop.data.sheets import read_sheet
from treetop.data.tally import Tally
from treetop.errors import DataError
from treetop.runtime import Runtime

__all__ = ["column_names", "frames", "read_frames", "slices", "take_frames", "texts_of"]

_CHUNK = 4096  # rows held as a polars frame at a time
_EMPTY = pl.Series([[]], dtype=pl.List(pl.String))


def read_frames(path: Path, intake: Intake, runtime: Runtime | None = None) -> None:
    """The texts and labels of the file. A null is an empty text, or no label."""
    with Place(path, unit="row") as place:
        take_frames(frames(path, intake.fields.wanted, runtime=runtime), intake, place)


def take_frames(source: Iterable[pl.DataFrame], intake: Intake, place: Place) -> None:
    """The texts and labels of frames that hold the wanted columns."""
    fields = intake.fields
    place.line = 0
    for frame in source:
        start = place.line
        labels = _label_column(frame[fields.labels])
        intake.tally.null_labels += _nulls(labels)
        weights = _weight_column(frame, fields.weights)
        intake.texts += texts_of(frame, fields, intake.tally)
        if isinstance(labels.dtype, pl.String):
            split = intake.splitter(labels.head(SAMPLE).fill_null("").to_list())
            rows: Iterable[Sequence[str]] = map(split, labels.fill_null("").to_list())
        else:
            rows = labels.fill_null(_EMPTY).list.drop_nulls().to_list()
        for place.line, (row, weight) in enumerate(zip(rows, weights, strict=True), start + 1):
            intake.rows.add(row, weight)


def texts_of(frame: pl.DataFrame, fields: Fields, tally: Tally) -> list[str]:
    """The texts of a frame, joined if they are in several columns; a null is an empty text."""
    columns = [_text_column(frame[name], tally) for name in fields.texts]
    return columns[0] if len(columns) == 1 else [joined(parts) for parts in zip(*columns, strict=True)]


def frames(
    path: Path,
    wanted: Sequence[str],
    *,
    optional: Sequence[str] = (),
    chunk: int = _CHUNK,
    runtime: Runtime | None = None,
) -> Iterator[pl.DataFrame]:
    """The wanted columns of a file (and the optional ones that are there), `chunk` rows at a time."""
    size = path.stat().st_size
    with (runtime or Runtime()).bar(f"reading {path.name}", size) as advance, Place(path):
        table = _opened(path)
        try:
            with unprinted():
                count: int = table.select(pl.len()).collect().item()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _unreadable(path, error) from None
        unpacked = 0
        for number, frame in enumerate(slices(table, wanted, optional=optional, chunk=chunk)):
            unpacked += int(frame.estimated_size())
            check_expansion(size, unpacked, path)
            yield frame
            start = number * chunk
            advance(size * min(start + chunk, count) // count - size * start // count)


def column_names(path: Path) -> list[str]:
    """All columns of a file."""
    return _opened(path).collect_schema().names()


def slices(
    table: pl.LazyFrame, wanted: Sequence[str], *, optional: Sequence[str] = (), chunk: int = _CHUNK
) -> Iterator[pl.DataFrame]:
    """The wanted columns of a table, `chunk` rows at a time."""
    names = table.collect_schema().names()
    for name in wanted:
        if name not in names:
            raise absent("column", name, names)
    chosen = table.select(list(dict.fromkeys([*wanted, *(name for name in optional if name in names)])))
    start = 0
    while len(frame := _collected(chosen.slice(start, chunk))):
        yield frame
        start += chunk


def _collected(table: pl.LazyFrame) -> pl.DataFrame:
    with unprinted():
        return table.collect()


def _opened(path: Path) -> pl.LazyFrame:
    """The file as a table of which only the columns and rows that are asked for are read."""
    try:
        if path.suffix.lower() in (".xlsx", ".xls", ".xlsb", ".ods"):
            return read_sheet(path).lazy()
        table = _parquet(path) if path.suffix.lower() in (".parquet", ".pq") else _arrow(path)
        with unprinted():
            table.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, error) from None
    return table


def _parquet(path: Path) -> pl.LazyFrame:
    check_pages(path)
    return pl.scan_parquet(path, glob=False)


def _arrow(path: Path) -> pl.LazyFrame:
    check_batches(path)
    with unprinted():
        return pl.scan_ipc(path, glob=False) if is_file(path) else pl.read_ipc_stream(path).lazy()


def _unreadable(path: Path, error: Exception) -> DataError:
    kind = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "Excel"}.get(path.suffix.lower(), path.suffix[1:])
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DataError(f"not a readable {kind} file ({reason}); write it again", path=path)


def _text_column(column: pl.Series, tally: Tally) -> list[str]:
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum | pl.Null):
        raise DataError(f"column {column.name!r} holds {column.dtype}, expected texts; name the column of the texts")
    tally.null_texts += column.null_count()
    return column.cast(pl.String).fill_null("").to_list()


def _label_column(column: pl.Series) -> pl.Series:
    """Labels as lists of strings, or as one string per row; nulls are left."""
    kind = column.dtype
    inner = kind.inner if isinstance(kind, pl.List | pl.Array) else kind
    if inner.is_float() and _is_whole(column):
        return _label_column(column.cast(pl.List(pl.Int64) if isinstance(kind, pl.List | pl.Array) else pl.Int64))
    if not (isinstance(inner, pl.String | pl.Categorical | pl.Enum | pl.Null) or inner.is_integer()):
        raise DataError(f"column {column.name!r} holds {kind}, expected lists of label names or separated strings")
    return column.cast(pl.List(pl.String) if isinstance(kind, pl.List | pl.Array) else pl.String)


def _is_whole(column: pl.Series) -> bool:
    """Whether numbers are whole, as in a column of integers that has gaps."""
    flat = (column.explode() if isinstance(column.dtype, pl.List | pl.Array) else column).drop_nulls()
    return bool((flat == flat.floor()).all())


def _nulls(labels: pl.Series) -> int:
    inside = labels.drop_nulls().list.eval(pl.element().null_count()).list.sum().sum() if labels.dtype == pl.List else 0
    return labels.null_count() + int(inside or 0)


def _weight_column(frame: pl.DataFrame, name: str | None) -> list[Any]:
    """A list of numbers per row, or None per row if there is no such column."""
    if name is None:
        return [None] * len(frame)
    kind = frame[name].dtype
    if not (isinstance(kind, pl.List | pl.Array) and kind.inner.is_numeric()):
        raise DataError(f"column {name!r} holds {kind}, expected lists with one number per label")
    return [row or [] for row in frame[name].cast(pl.List(pl.Float64)).to_list()]

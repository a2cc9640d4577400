"""Parquet files: a column of texts and a column of labels (lists, or strings with a separator)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from treetop.data.dataset import LabelRows
from treetop.data.fields import Fields, absent
from treetop.data.lines import Place
from treetop.data.separators import SAMPLE, splitter
from treetop.errors import DataError
from treetop.runtime import Runtime

__all__ = ["parquet_frames", "read_parquet"]

_CHUNK = 4096  # rows held as a polars frame at a time


def read_parquet(path: Path, fields: Fields, rows: LabelRows, runtime: Runtime | None = None) -> list[str]:
    """The texts of the file; their labels are added to `rows`. A null is an empty text, or no label."""
    wanted = [fields.text, fields.labels, *([] if fields.weights is None else [fields.weights])]
    texts: list[str] = []
    split = None
    with Place(path, unit="row") as place:
        for frame in parquet_frames(path, wanted, runtime=runtime):
            labels = _label_column(frame[fields.labels])
            if split is None and isinstance(labels.dtype, pl.String):
                split = splitter(fields.separator, labels.head(SAMPLE).to_list(), rows.space)
            weights = _weight_column(frame, fields.weights)
            place.line = len(texts)
            texts += text_column(frame[fields.text])
            for row, weight in zip(labels.to_list(), weights, strict=True):
                place.line += 1
                rows.add(split(row) if split else [name for name in row if name is not None], weight)
    return texts


def parquet_frames(
    path: Path,
    wanted: Sequence[str],
    *,
    optional: Sequence[str] = (),
    chunk: int = _CHUNK,
    runtime: Runtime | None = None,
) -> Iterator[pl.DataFrame]:
    """The wanted columns (and the optional ones that are there), `chunk` rows at a time."""
    size = path.stat().st_size
    with (runtime or Runtime()).bar(f"reading {path.name}", size) as advance:
        lazy, count = _scanned(path, wanted, optional)
        for start in range(0, count, chunk):
            yield lazy.slice(start, chunk).collect()
            advance(size * min(start + chunk, count) // count - size * start // count)


def text_column(column: pl.Series) -> list[str]:
    """A column of texts as a list; a null is an empty text."""
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum | pl.Null):
        raise DataError(f"column {column.name!r} holds {column.dtype}, expected texts; name the column of the texts")
    return column.cast(pl.String).fill_null("").to_list()


def _scanned(path: Path, wanted: Sequence[str], optional: Sequence[str]) -> tuple[pl.LazyFrame, int]:
    try:
        lazy = pl.scan_parquet(path, glob=False)
        names = lazy.collect_schema().names()
        count: int = lazy.select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"not a readable parquet file ({reason}); write it again", path=path) from None
    for name in wanted:
        if name not in names:
            raise DataError(str(absent("column", name, names)), path=path)
    return lazy.select(*wanted, *(name for name in optional if name in names and name not in wanted)), count


def _label_column(column: pl.Series) -> pl.Series:
    """Labels as lists of strings, or as one string per row."""
    kind = column.dtype
    inner = kind.inner if isinstance(kind, pl.List | pl.Array) else kind
    if not (isinstance(inner, pl.String | pl.Categorical | pl.Enum | pl.Null) or inner.is_integer()):
        raise DataError(f"column {column.name!r} holds {kind}, expected lists of label names or separated strings")
    if isinstance(kind, pl.List | pl.Array):
        return column.cast(pl.List(pl.String)).fill_null(pl.Series([[]], dtype=pl.List(pl.String)))
    return column.cast(pl.String).fill_null("")


def _weight_column(frame: pl.DataFrame, name: str | None) -> list[Any]:
    """A list of numbers per row, or None per row if there is no such column."""
    if name is None:
        return [None] * len(frame)
    kind = frame[name].dtype
    if not (isinstance(kind, pl.List | pl.Array) and kind.inner.is_numeric()):
        raise DataError(f"column {name!r} holds {kind}, expected lists with one number per label")
    return [row or [] for row in frame[name].cast(pl.List(pl.Float64)).to_list()]

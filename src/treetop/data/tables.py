"""Comma- and tab-separated tables with a header line, plain or gzip.

Cells may be quoted and then hold line breaks. The delimiter of a `.csv` file is the one of `,` `;` tab and `|` under
which the header has the columns asked for. The standard library's parser streams and knows where a bad record starts;
polars parses such a file in about half the time, but holds it twice in memory and says less about what is wrong.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from treetop.data.dataset import LabelRows
from treetop.data.fields import Fields, absent
from treetop.data.lines import Place, text_lines
from treetop.data.separators import SAMPLE, splitter
from treetop.errors import DataError
from treetop.runtime import Runtime

__all__ = ["read_table", "table_records"]

_DELIMITERS = (",", ";", "\t", "|")
_LARGEST_CELL = 2**31 - 1  # bytes; the parser's own limit of 128 KiB is shorter than many a text


def read_table(path: Path, fields: Fields, rows: LabelRows, runtime: Runtime | None = None) -> list[str]:
    """The texts of the table; their labels are added to `rows`."""
    wanted = [fields.text, fields.labels, *([] if fields.weights is None else [fields.weights])]
    records = table_records(path, wanted, runtime)
    texts: list[str] = []
    with Place(path) as place:
        first = list(islice(records, SAMPLE))
        split = splitter(fields.separator, [cells[1] for _, cells in first], rows.space)
        for place.line, cells in chain(first, records):
            texts.append(cells[0])
            rows.add(split(cells[1]), None if fields.weights is None else _numbers(split(cells[2]), fields.weights))
    return texts


def table_records(
    path: Path, wanted: Sequence[str], runtime: Runtime | None = None, optional: Sequence[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells of the wanted columns) of each record; an optional column that is absent gives no cell."""
    source = text_lines(path, runtime)
    header = next(source, (1, ""))[1]
    if not header.strip():
        raise DataError("the file is empty; expected a header line with the names of the columns", path=path)
    delimiter = "\t" if _is_tab_separated(path) else _delimiter(header, wanted)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    for name in wanted:
        if name not in names:
            raise DataError(str(absent("column", name, names)), path=path, line=1)
    columns = [names.index(name) for name in [*wanted, *(name for name in optional if name in names)]]
    for number, cells in _parsed((line for _, line in source), delimiter, path):
        if len(cells) != len(names):
            raise DataError(
                f"{len(cells)} cells, but the header has {len(names)}; put cells that contain {delimiter!r} in quotes",
                path=path,
                line=number,
            )
        yield number, [cells[column] for column in columns]


def _parsed(lines: Iterator[str], delimiter: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Records behind the header, each with the line where it starts; blank lines between them are skipped."""
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter, strict=True)
    start = 2
    try:
        for cells in reader:
            if cells:
                yield start, cells
            start = reader.line_num + 2
    except csv.Error as error:
        hint = "double each quote inside a quoted cell, and quote cells that begin with a quote"
        raise DataError(
            f"the record that starts here cannot be parsed ({error}); {hint}", path=path, line=start
        ) from None


def _is_tab_separated(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab"))


def _delimiter(header: str, wanted: Sequence[str]) -> str:
    """The delimiter that finds the most wanted columns, then the most columns."""

    def found(delimiter: str) -> tuple[int, int]:
        names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
        return sum(name in names for name in wanted), len(names)

    return max(_DELIMITERS, key=found)


def _numbers(cells: Sequence[str], column: str) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError as error:
        raise DataError(f"column {column!r}: {error}; expected one number per label") from None

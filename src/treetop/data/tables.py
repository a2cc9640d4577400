"""Comma- and tab-separated tables with a header line, plain or gzip.

Cells may be quoted and then hold line breaks. A cell that says NaN, NULL or the like holds nothing. The delimiter of a
`.csv` file is the one of `,` `;` tab and `|` under which the header has the columns asked for. The standard library's
parser streams and knows where a bad record starts; polars parses such a file in about half the time, but holds it twice
in memory and says less about what is wrong.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path

from treetop.data.fields import absent, joined
from treetop.data.intake import Intake
from treetop.data.limits import CELL
from treetop.data.lines import Place, text_lines
from treetop.data.separators import SAMPLE, Splitter
from treetop.data.tally import LONGEST_MISSING, MISSING, Tally
from treetop.errors import DataError
from treetop.runtime import Runtime

__all__ = ["column_names", "read_table", "table_records", "text_of"]

_EXAMPLE = "the names of its columns, such as text,labels"
_DELIMITERS = (",", ";", "\t", "|")


def read_table(path: Path, intake: Intake, runtime: Runtime | None = None) -> None:
    """The texts and labels of the table."""
    fields, tally, texts, add = intake.fields, intake.tally, intake.texts, intake.rows.add
    width = len(fields.texts)
    records = table_records(path, fields.wanted, runtime, tally=tally)
    with Place(path) as place:
        first = list(islice(records, SAMPLE))
        split = intake.splitter([cells[width] for _, cells in first])
        for place.line, cells in chain(first, records):
            plain = width == 1 and (len(cells[0]) > LONGEST_MISSING or cells[0] not in MISSING)
            texts.append(cells[0] if plain else text_of(cells[:width], tally))
            add(split(cells[width]), None if fields.weights is None else _numbers(cells[-1], split, fields.weights))


def text_of(cells: Sequence[str], tally: Tally) -> str:
    """The text in one or several cells; a cell that says NaN or the like is empty, and counted."""
    if MISSING.isdisjoint(cells):
        return cells[0] if len(cells) == 1 else joined(cells)
    tally.null_texts += sum(cell in MISSING for cell in cells)
    return joined(cell for cell in cells if cell not in MISSING)


def table_records(
    path: Path,
    wanted: Sequence[str],
    runtime: Runtime | None = None,
    optional: Sequence[str] = (),
    tally: Tally | None = None,
) -> Iterator[tuple[int, Sequence[str]]]:
    """(line number, cells of the wanted columns) of each record; an optional column that is absent gives no cell."""
    source = text_lines(path, runtime, tally)
    header = next(source, (1, ""))[1]
    if not header.strip():
        raise DataError("the file is empty; expected a header line with the names of the columns", path=path)
    delimiter = "\t" if _is_tab_separated(path) else _delimiter(header, wanted)
    names = _header_names(header, delimiter)
    for name in wanted:
        if name not in names:
            doubt = "" if set(names) & set(wanted) else f"; is this a line of data? A table begins with {_EXAMPLE}"
            raise DataError(f"{absent('column', name, names)}{doubt}", path=path, line=1)
        if names.count(name) > 1:
            raise DataError(f"{names.count(name)} columns are called {name!r}; rename all but one", path=path, line=1)
    columns = [names.index(name) for name in [*wanted, *(name for name in optional if name in names)]]
    width, pick = len(names), _picker(columns)
    for number, cells in _parsed((line + "\n" for _, line in source), delimiter, path):
        if len(cells) != width:
            raise DataError(
                f"{len(cells)} cells, but the header has {width}; put cells that contain {delimiter!r} in quotes",
                path=path,
                line=number,
            )
        yield number, pick(cells)


def _picker(columns: Sequence[int]) -> Callable[[Sequence[str]], Sequence[str]]:
    """Takes some cells of a record; of several it is quicker than any loop."""
    return itemgetter(*columns) if len(columns) > 1 else itemgetter(slice(columns[0], columns[0] + 1))


def column_names(path: Path, wanted: Sequence[str], tally: Tally | None = None) -> list[str]:
    """All columns of a table that has the wanted ones."""
    header = next(text_lines(path, None, tally), (1, ""))[1]
    return _header_names(header, "\t" if _is_tab_separated(path) else _delimiter(header, wanted))


def _parsed(lines: Iterator[str], delimiter: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Records behind the header, each with the line where it starts; blank lines between them are skipped."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
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
        names = _header_names(header, delimiter)
        return sum(name in names for name in wanted), len(names)

    return max(_DELIMITERS, key=found)


def _header_names(header: str, delimiter: str) -> list[str]:
    csv.field_size_limit(max(csv.field_size_limit(), CELL))  # 128 KiB, its own, is shorter than many a text
    try:
        return [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    except csv.Error:  # a line break within a cell, or no text at all
        return []


def _numbers(cell: str, split: Splitter, column: str) -> list[float]:
    try:
        return [] if cell in MISSING else [float(part) for part in split.parts(cell) if part.strip()]
    except ValueError as error:
        raise DataError(f"column {column!r}: {error}; expected one number per label") from None

"""Texts to predict, as a stream: from a file or from standard input, a chunk at a time.

Nothing is held but the current chunk, so the input may be endless. What comes through a pipe is handed on as soon as
it has arrived, without waiting for a whole chunk.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

from treetop.data.encodings import check_encoding, decode
from treetop.data.fields import Fields, absent
from treetop.data.intake import text_of
from treetop.data.jsonl import file_objects, parse_object
from treetop.data.layout import file_kind
from treetop.data.lines import Place, lines, live_lines
from treetop.data.markup import without_markup
from treetop.data.tables import table_records, text_of as text_of_cells
from treetop.data.tally import Tally
from treetop.errors import ConfigError, DataError

__all__ = ["Record", "read_texts"]

_ID = "id"


class Record(NamedTuple):
    """A text, and whatever its `id` field holds."""

    text: str
    id: Any = None


_Arriving: TypeAlias = Iterator[Record | None]


def read_texts(
    source: str | PathLike[str],
    *,
    text: str | Sequence[str] = "text",
    chunk: int = 1024,
    encoding: str | None = None,
    strip_html: bool = False,
) -> Iterator[list[Record]]:
    """Chunks of at most `chunk` records from a json, csv, tsv, parquet, arrow, xlsx or txt file, or `-` for stdin.

    A txt file has one text per line. Standard input, and a file without a suffix, is JSON lines if its first line
    begins with `{`, and one text per line otherwise. `text` names the field or column, or several that are joined; one
    called `id` is passed on. Encodings are found out, or named; `strip_html` removes tags.
    """
    if chunk < 1:
        raise ConfigError(f"chunk is {chunk}; give a positive number of texts")
    check_encoding(encoding)
    with Place(str(source)):
        records = _placed(source, _records(source, Fields(text=text), chunk, Tally(encoding=encoding)))
    if strip_html:
        records = (one and one._replace(text=without_markup(one.text)) for one in records)
    return _chunked(records, chunk)


def _placed(source: str | PathLike[str], records: _Arriving) -> _Arriving:
    """The records; whatever goes wrong among them names its file."""
    with Place("standard input" if str(source) == "-" else Path(source)):
        yield from records


def _records(source: str | PathLike[str], fields: Fields, chunk: int, tally: Tally) -> _Arriving:
    if str(source) == "-":
        return _from_lines(live_lines(cast(BufferedReader, sys.stdin.buffer), tally), "standard input", fields, tally)
    path = Path(source)
    if path.is_dir():
        raise DataError("this is a folder; give one of its files", path=path)
    if not path.exists():
        remedy = "check the path; a text itself goes to standard input: echo TEXT | treetop predict MODEL -"
        raise DataError(f"no such file; {remedy}", path=path)
    kind = file_kind(path)
    if kind == "table":
        return _from_table(path, fields, tally)
    if kind in ("frame", "sheet"):
        return _from_frames(path, fields, chunk, tally)
    if kind == "jsonl":
        return (_from_object(record, path, number, fields, tally) for number, record in file_objects(path, None, tally))
    if kind is None and path.suffix:
        known = "jsonl, json, csv, tsv, parquet, arrow, xlsx and txt"
        raise DataError(f"unknown file type {path.suffix!r}; supported are {known}", path=path)
    return _from_lines(lines(path, None, tally), path, fields, tally, plain=path.name.endswith((".txt", ".txt.gz")))


def _from_lines(
    source: Iterator[tuple[int, bytes] | None], path: Path | str, fields: Fields, tally: Tally, *, plain: bool = False
) -> _Arriving:
    """Records of lines; unless it is known, their form is that of the first line."""
    json = False
    ahead: list[tuple[int, bytes] | None] = []
    for item in source:
        ahead.append(item)
        if item is not None and item[1].strip():
            json = not plain and item[1].lstrip().startswith(b"{")
            break
    for item in chain(ahead, source):
        if item is None:
            yield None
        elif not json:
            yield Record(decode(item[1], path, item[0], tally))
        elif item[1].strip():
            yield _from_object(parse_object(item[1], path, item[0], tally), path, item[0], fields, tally)


def _from_object(record: dict[str, Any], path: Path | str, number: int, fields: Fields, tally: Tally) -> Record:
    with Place(path) as place:
        place.line = number
        if record.keys().isdisjoint(fields.texts):
            raise absent("field", fields.texts[0], record)
        return Record(text_of(record, fields, tally), record.get(_ID))


def _from_table(path: Path, fields: Fields, tally: Tally) -> _Arriving:
    width = len(fields.texts)
    for _, cells in table_records(path, fields.texts, optional=[_ID], tally=tally):
        yield Record(text_of_cells(cells[:width], tally), *cells[width:])


def _from_frames(path: Path, fields: Fields, chunk: int, tally: Tally) -> _Arriving:
    from treetop.data.frames import frames, texts_of

    for frame in frames(path, fields.texts, optional=[_ID], chunk=chunk):
        ids = frame[_ID].to_list() if _ID in frame.columns else [None] * len(frame)
        with Place(path):
            texts = texts_of(frame, fields, tally)
        yield from map(Record, texts, ids)


def _chunked(records: Iterable[Record | None], size: int) -> Iterator[list[Record]]:
    """Lists of at most `size` records; a shorter one where the input pauses, and at the end."""
    held: list[Record] = []
    for record in records:
        if record is not None:
            held.append(record)
        if held and (record is None or len(held) == size):
            yield held
            held = []
    if held:
        yield held

"""Texts to predict, as a stream: from a file or from standard input, a chunk at a time.

Nothing is held but the current chunk, so the input may be endless. What comes through a pipe is handed on as soon as
it has arrived, without waiting for a whole chunk.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from io import BufferedReader
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

from treetop.data.fields import absent, as_text
from treetop.data.jsonl import parse_object
from treetop.data.layout import file_kind
from treetop.data.lines import Place, decode, lines, live_lines
from treetop.data.tables import table_records
from treetop.errors import ConfigError, DataError

__all__ = ["Record", "read_texts"]

_ID = "id"


class Record(NamedTuple):
    """A text, and whatever its `id` field holds."""

    text: str
    id: Any = None


_Arriving: TypeAlias = Iterator[Record | None]


def read_texts(source: str | PathLike[str], *, text: str = "text", chunk: int = 1024) -> Iterator[list[Record]]:
    """Chunks of at most `chunk` records from a jsonl, csv, tsv, parquet or txt file, or `-` for standard input.

    A txt file has one text per line. Standard input, and a file without a suffix, is JSON lines if its first line
    begins with `{`, and one text per line otherwise. `text` names the field or column; one called `id` is passed on.
    """
    if chunk < 1:
        raise ConfigError(f"chunk is {chunk}; give a positive number of texts")
    return _chunked(_records(source, text, chunk), chunk)


def _records(source: str | PathLike[str], text: str, chunk: int) -> _Arriving:
    if str(source) == "-":
        return _from_lines(live_lines(cast(BufferedReader, sys.stdin.buffer)), "standard input", text)
    path = Path(source)
    if path.is_dir():
        raise DataError("this is a folder; give one of its files", path=path)
    if not path.exists():
        raise DataError("no such file; check the path, or give - for standard input", path=path)
    kind = file_kind(path)
    if kind == "table":
        return (Record(*cells) for _, cells in table_records(path, [text], optional=[_ID]))
    if kind == "parquet":
        return _from_parquet(path, text, chunk)
    if kind is None and path.suffix:
        raise DataError(f"unknown file type {path.suffix!r}; supported are jsonl, csv, tsv, parquet and txt", path=path)
    return _from_lines(lines(path), path, text, plain=path.name.endswith((".txt", ".txt.gz")), json=kind == "jsonl")


def _from_lines(
    source: Iterator[tuple[int, bytes] | None], path: Path | str, text: str, *, plain: bool = False, json: bool = False
) -> _Arriving:
    """Records of lines; unless it is known, their form is that of the first line."""
    ahead: list[tuple[int, bytes] | None] = []
    for item in source:
        ahead.append(item)
        if item is not None and item[1].strip():
            json = json or (not plain and item[1].lstrip().startswith(b"{"))
            break
    for item in chain(ahead, source):
        if item is None:
            yield None
        elif not json:
            yield Record(decode(item[1], path, item[0]))
        elif item[1].strip():
            yield _from_json(item[1], path, item[0], text)


def _from_json(line: bytes, path: Path | str, number: int, text: str) -> Record:
    record = parse_object(line, path, number)
    with Place(path) as place:
        place.line = number
        if text not in record:
            raise absent("field", text, record)
        return Record(as_text(record[text], text), record.get(_ID))


def _from_parquet(path: Path, text: str, chunk: int) -> _Arriving:
    from treetop.data.parquet import parquet_frames, text_column

    for frame in parquet_frames(path, [text], optional=[_ID], chunk=chunk):
        ids = frame[_ID].to_list() if _ID in frame.columns else [None] * len(frame)
        with Place(path):
            texts = text_column(frame[text])
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

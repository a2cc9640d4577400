"""JSON: one object per line, `{"text": "…", "labels": ["a", "b"]}`, or a list of such objects; plain or gzip.

The standard library's parser on one line at a time is as fast here as reading with polars in blocks, needs less
memory, and knows the number of a line it cannot parse. A list is read object by object too, not as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from treetop.data.encodings import decode
from treetop.data.intake import Intake
from treetop.data.jsonarray import array_objects, begins_array, mended
from treetop.data.lines import Place, lines
from treetop.data.tally import Tally
from treetop.errors import DataError
from treetop.runtime import Runtime

__all__ = ["file_objects", "json_objects", "parse_object", "read_jsonl"]


def read_jsonl(path: Path, intake: Intake, runtime: Runtime | None = None) -> None:
    """The texts and labels of the file."""
    with Place(path) as place:
        intake.take(file_objects(path, runtime, intake.tally), place)


def file_objects(
    path: Path, runtime: Runtime | None = None, tally: Tally | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each object of a file of JSON lines, or of one JSON list."""
    if begins_array(path, tally):
        return array_objects(path, runtime, tally)
    return json_objects(lines(path, runtime, tally), path, tally)


def json_objects(
    source: Iterable[tuple[int, bytes]], path: Path | str, tally: Tally | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each line that is not blank."""
    for number, line in source:
        if line and not line.isspace():
            yield number, parse_object(line, path, number, tally)


def parse_object(raw: bytes, path: Path | str, number: int, tally: Tally | None = None) -> dict[str, Any]:
    """The object that a line holds; anything else is an error that names the line."""
    line = decode(raw, path, number, tally)
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        where = f" ({error.msg} at column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"not valid JSON{where}; {_REMEDY}", path=path, line=number) from None
    if not isinstance(record, dict):
        raise DataError(f"not a JSON object; {_REMEDY}", path=path, line=number)
    if "\\" in line and ("\\ud" in line or "\\uD" in line):  # the search for one character is far quicker
        return mended(record)
    return record


_REMEDY = 'each line must be one object such as {"text": "…", "labels": ["a", "b"]}, or the file one list of them'

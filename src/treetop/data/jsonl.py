"""JSON lines: one object per line, `{"text": "…", "labels": ["a", "b"]}`, plain or gzip.

The standard library's parser on one line at a time is as fast here as reading with polars in blocks, needs less
memory, and knows the number of a line it cannot parse.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from treetop.data.dataset import LabelRows
from treetop.data.fields import Fields, absent, as_text, label_row
from treetop.data.lines import Place, decode, lines
from treetop.errors import DataError
from treetop.runtime import Runtime

__all__ = ["json_objects", "parse_object", "read_jsonl"]


def read_jsonl(path: Path, fields: Fields, rows: LabelRows, runtime: Runtime | None = None) -> list[str]:
    """The texts of the file; their labels are added to `rows`."""
    texts: list[str] = []
    with Place(path) as place:
        for place.line, record in json_objects(lines(path, runtime), path):
            if fields.text not in record:
                raise absent("field", fields.text, record)
            texts.append(as_text(record[fields.text], fields.text))
            rows.add(*label_row(record, fields))
    return texts


def json_objects(source: Iterable[tuple[int, bytes]], path: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each line that is not blank."""
    for number, line in source:
        if line and not line.isspace():
            yield number, parse_object(line, path, number)


def parse_object(raw: bytes, path: Path | str, number: int) -> dict[str, Any]:
    """The object that a line holds; anything else is an error that names the line."""
    line = decode(raw, path, number)
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f" ({error.msg} at column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"not valid JSON{where}; {_remedy(line)}", path=path, line=number) from None
    if not isinstance(record, dict):
        raise DataError(f"not a JSON object; {_remedy(line)}", path=path, line=number)
    if "\\" in line and ("\\ud" in line or "\\uD" in line):  # the search for one character is far quicker
        return _mended(record)
    return record


def _mended(record: dict[str, Any]) -> dict[str, Any]:
    """The record with each half of a surrogate pair, which JSON can spell but no UTF-8 file hold, made U+FFFD."""
    units = json.dumps(record, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
    mended: dict[str, Any] = json.loads(units.decode("utf-16-le", "replace"))
    return mended


def _remedy(line: str) -> str:
    if line.lstrip().startswith("["):
        return "a JSON array is not read as a whole, write one object per line (jq -c '.[]' file.json > file.jsonl)"
    return 'each line must be one object such as {"text": "…", "labels": ["a", "b"]}'

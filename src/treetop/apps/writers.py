"""Where suggestions are written: a form of file is a function here and a line in `WRITERS`.

Every file appears complete or not at all. Forms of text are written as they come; parquet and npz, which cannot be, are
gathered and written in the end. Tables have a row per suggestion.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from treetop.errors import ConfigError
from treetop.store import whole_bytes, whole_file

if TYPE_CHECKING:
    from treetop.predictions import Predictions

__all__ = ["COLUMNS", "WRITERS", "check_ending", "id_word", "writer"]

COLUMNS = ("text", "id", "rank", "label", "score")
"""Of a table: the text's number from 0, its id if it has one, the label's place from 1, its name and its score."""
UNSEEN = "unseen"
"""One column more if the model suggests labels that no training text had: whether it is such a label."""

LABEL_TEXT = "label_text"
"""One column more where it is asked for: what describes the label."""

Columns: TypeAlias = Sequence[str]
Texts: TypeAlias = Mapping[str, str]
Write: TypeAlias = Callable[[Sequence[Any], "Predictions"], None]
"""Takes the ids of the next texts (None for one without) and their predictions."""


def writer(path: Path | None, *, unseen: bool = False, texts: Texts | None = None) -> AbstractContextManager[Write]:
    """What writes into a file of the form that its ending says, or JSON lines to standard output.

    `unseen`: the model suggests labels that no training text had, so a table has a column that says so. `texts`: what
    describes each label, to be written beside it.
    """
    if path is None:
        return _to_standard_output(texts)
    columns = (*COLUMNS, *((UNSEEN,) if unseen else ()), *((LABEL_TEXT,) if texts else ()))
    return WRITERS[check_ending(path)](path, columns, texts or {})


def check_ending(path: Path) -> str:
    """The ending of a file that can be written; a device or a pipe, whatever its name, takes JSON lines."""
    if path.exists() and not path.is_file() and not path.is_dir():
        return ".jsonl"
    if path.suffix not in WRITERS:
        raise ConfigError(f"{path} ends in {path.suffix!r}; choose one of {', '.join(WRITERS)}")
    return path.suffix


def id_word(given: Any) -> str:
    """The id of a text as a string; empty if there is none."""
    if given is None or isinstance(given, str):
        return given or ""
    return json.dumps(given, ensure_ascii=False, default=_word)


def _word(given: Any) -> str:
    return given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given)


def _as_json(given: Any) -> Any:
    """The id, if JSON can hold it; else in words, as dates, and as NaN."""
    if isinstance(given, str | int):
        return given
    try:
        json.dumps(given, allow_nan=False)
    except (TypeError, ValueError):
        return id_word(given).strip('"')
    return given


@contextmanager
def _to_standard_output(texts: Texts | None) -> Iterator[Write]:
    yield partial(_write_lines, sys.stdout, texts)


@contextmanager
def _json_lines(path: Path, _columns: Columns, texts: Texts) -> Iterator[Write]:
    """A line per text: its id if it has one, labels and scores."""
    with whole_file(path) as file:
        yield partial(_write_lines, file, texts)


def _write_lines(file: IO[str], texts: Texts | None, ids: Sequence[Any], found: Predictions) -> None:
    for given, suggestions in zip(ids, found, strict=True):
        row: dict[str, Any] = {} if given is None else {"id": _as_json(given)}
        row["labels"] = [one.label for one in suggestions]
        if texts:
            row["label_texts"] = [texts[one.label] for one in suggestions]
        row["scores"] = [float(f"{one.score:.6g}") for one in suggestions]
        if found.unseen is not None:
            row["unseen"] = [one.label for one in suggestions if one.unseen]
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    file.flush()


@contextmanager
def _separated(delimiter: str, path: Path, columns: Columns, texts: Texts) -> Iterator[Write]:
    """A table as text."""
    extra: dict[str, Callable[[Any], Any]] = {UNSEEN: lambda row: row[-1], LABEL_TEXT: lambda row: texts[row[3]]}
    more = [extra[name] for name in columns[len(COLUMNS) :]]
    with whole_file(path) as file:
        table, rows = csv.writer(file, delimiter=delimiter, lineterminator="\n"), _Rows()
        table.writerow(columns)
        yield lambda ids, found: table.writerows(
            (*row[: len(COLUMNS)], *(column(row) for column in more)) for row in rows.of(ids, found)
        )


@contextmanager
def _trec(path: Path, _columns: Columns, _texts: Texts) -> Iterator[Write]:
    """A TREC run: `id Q0 label rank score treetop`; blanks and % within a word are written as %20 and %25."""

    def write(ids: Sequence[Any], found: Predictions) -> None:
        for text, word, rank, label, score, _ in rows.of(ids, found):
            file.write(f"{_one_word(word or str(text))} Q0 {_one_word(label)} {rank} {score} treetop\n")

    rows = _Rows()
    with whole_file(path) as file:
        yield write


def _one_word(word: str) -> str:
    return re.sub(r"[\s%]", lambda found: quote(found[0]), word)


class _Rows:
    """Suggestions as rows of a table, the texts counted through."""

    def __init__(self) -> None:
        self.texts = 0

    def of(self, ids: Sequence[Any], found: Predictions) -> Iterator[tuple[int, str, int, str, float, int]]:
        """The rows of the next texts."""
        for text, (given, suggestions) in enumerate(zip(ids, found, strict=True), self.texts):
            for rank, one in enumerate(suggestions, 1):
                yield text, id_word(given), rank, one.label, float(f"{one.score:.6g}"), int(one.unseen)
        self.texts += len(ids)


@contextmanager
def _parquet(path: Path, columns: Columns, texts: Texts) -> Iterator[Write]:
    """A table in columns."""
    import polars as pl

    frames: list[pl.DataFrame] = []
    count = 0

    def write(ids: Sequence[Any], found: Predictions) -> None:
        nonlocal count
        frame = found.to_frame()
        words = pl.Series([id_word(given) or None for given in ids], dtype=pl.String)
        called = pl.Series(LABEL_TEXT, [texts.get(label) for label in frame["label"]], dtype=pl.String)
        frames.append(frame.with_columns(pl.col("text") + count, words.gather(frame["text"]).alias("id"), called))
        count += len(ids)

    empty = {"text": pl.Int64, "id": pl.String, "rank": pl.Int64, "label": pl.String, "score": pl.Float32}
    extra = {UNSEEN: pl.Boolean, LABEL_TEXT: pl.String}
    empty |= {name: extra[name] for name in columns[len(COLUMNS) :]}
    with whole_bytes(path) as file:
        yield write
        whole = pl.concat([pl.DataFrame(schema=empty), *(frame.select(columns) for frame in frames)])
        try:
            whole.write_parquet(file)
        except pl.exceptions.PolarsError as error:  # which is what a full disk is to it
            raise OSError(" ".join(str(error).split())) from error


@contextmanager
def _npz(path: Path, _columns: Columns, _texts: Texts) -> Iterator[Write]:
    """Scores as a sparse matrix, texts × labels, for `scipy.sparse.load_npz`; `names` has the labels' names as JSON."""
    import numpy as np
    from scipy.sparse import csr_array, vstack

    parts: list[csr_array] = []
    names: list[str] = []

    def write(_ids: Sequence[Any], found: Predictions) -> None:
        names[:] = names or found.names or ()
        parts.append(found.to_csr(len(names)))

    with whole_bytes(path) as file:
        yield write
        scores = vstack(parts, format="csr") if parts else csr_array((0, len(names)), dtype=np.float32)
        arrays: dict[str, Any] = {
            "data": scores.data,
            "indices": scores.indices,
            "indptr": scores.indptr,
            "shape": scores.shape,
        }
        coded = np.frombuffer(json.dumps(names, ensure_ascii=False).encode(), np.uint8)
        np.savez_compressed(file, format=np.array(b"csr"), names=coded, **arrays)


WRITERS: dict[str, Callable[[Path, Columns, Texts], AbstractContextManager[Write]]] = {
    ".jsonl": _json_lines,
    ".csv": partial(_separated, ","),
    ".tsv": partial(_separated, "\t"),
    ".parquet": _parquet,
    ".trec": _trec,
    ".npz": _npz,
}
"""The forms, by the endings of their files."""

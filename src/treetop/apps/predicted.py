"""Suggestions read back from a file, ours or anyone's: a form of file is a function here and a line in `READERS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

import numpy as np

from treetop.apps.writers import id_word
from treetop.data.fields import absent
from treetop.data.jsonl import parse_object
from treetop.data.layout import RECORDS, Source
from treetop.data.lines import Place, lines, text_lines
from treetop.data.npz import read_matrix, read_words
from treetop.data.records import read_texts
from treetop.data.tables import column_names, table_records
from treetop.errors import ConfigError, DataError
from treetop.predictions import Predictions, fuse
from treetop.sparse import row_numbers
from treetop.tagging import shown

__all__ = ["READERS", "read_fused", "read_predictions", "rows_by_id"]

Entry: TypeAlias = tuple[int | str, str, float]
"""The number of a text from 0, or its id as a string; the name of a label; its score."""


def read_predictions(path: Path, names: Sequence[str], rows: Mapping[str, int], texts: int) -> Predictions:
    """The suggestions of a file for so many texts, best first; equal scores stay in the order of the file.

    `names` are the labels of the truth, in order; other labels get numbers behind them. `rows` gives the row of each
    text that has an id; where none has, an id is the number of the text.
    """
    if path.suffix not in READERS:
        raise ConfigError(f"{path} ends in {path.suffix!r}; predictions are read from {', '.join(READERS)}")
    if not path.is_file():
        raise DataError("no such file; check the path", path=path)
    index = {name: number for number, name in enumerate(names)}
    text, label, score = [], [], []
    with Place(path):
        for key, name, value in READERS[path.suffix](path, names, texts):
            text.append(_row(key, rows, texts))
            label.append(index.setdefault(name, len(index)))
            score.append(value)
    return _ranked(np.array(text, np.int64), np.array(label, np.int32), np.array(score, np.float32), texts, list(index))


def read_fused(
    paths: Sequence[Path], names: Sequence[str], rows: Mapping[str, int], texts: int, fuser: str
) -> Predictions:
    """The suggestions of a file, or of several as one."""
    several: list[Predictions] = []
    for path in paths:
        several.append(read_predictions(path, names, rows, texts))
        names = several[-1].names or names  # labels that only a file has keep their numbers
    several = [replace(one, names=names) for one in several]
    return several[0] if len(several) == 1 else fuse(several, fuser)


def rows_by_id(source: Source, text: str, encoding: str | None = None) -> dict[str, int]:
    """The row of each text of a file that has an id."""
    if source.kind not in RECORDS:
        return {}
    chunks = (chunk for path in source.paths for chunk in read_texts(path, text=text, encoding=encoding))
    records = (record for chunk in chunks for record in chunk)
    return {id_word(record.id): row for row, record in enumerate(records) if record.id is not None}


def _row(key: int | str, rows: Mapping[str, int], texts: int) -> int:
    if isinstance(key, str) and key in rows:
        return rows[key]
    if (isinstance(key, int) or (not rows and key.isdecimal())) and 0 <= int(key) < texts:
        return int(key)
    raise DataError(f"there is no text {shown(key)} among the {texts:,} of the data; give the data that was predicted")


def _check_count(found: int, texts: int, what: str) -> None:
    if found != texts:
        raise DataError(f"{found:,} {what} for {texts:,} texts; give the predictions of all texts, in their order")


def _ranked(
    text: np.ndarray[tuple[int], np.dtype[np.int64]],
    label: np.ndarray[tuple[int], np.dtype[np.int32]],
    score: np.ndarray[tuple[int], np.dtype[np.float32]],
    texts: int,
    names: Sequence[str],
) -> Predictions:
    order = np.lexsort((-score, text))
    text, label, score = text[order], label[order], score[order]
    counts = np.bincount(text, minlength=texts)
    place = np.arange(len(text)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (texts, max(1, int(counts.max(initial=0))))
    labels, scores = np.full(shape, -1, np.int32), np.zeros(shape, np.float32)
    labels[text, place], scores[text, place] = label, score
    return Predictions(labels, scores, names)


def _score(value: object) -> float:
    try:
        score = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        score = float("nan")
    if not np.isfinite(score):
        raise DataError(f"the score {shown(value)} is not a number")
    return score


def _number(value: object) -> int:
    try:
        return int(value)  # type: ignore[call-overload,no-any-return]
    except (TypeError, ValueError):
        raise DataError(f"the text {shown(value)} is not a number; texts are counted from 0") from None


def _json_lines(path: Path, _names: Sequence[str], texts: int) -> Iterator[Entry]:
    """A line per text, in the order of the data, with `labels` and perhaps `scores`."""
    number = 0
    for line, content in lines(path):
        if not content.strip():
            continue
        row = parse_object(content, path, line)
        labels = row.get("labels")
        if not isinstance(labels, list):
            raise DataError("expected a list called 'labels'", path=path, line=line)
        scores = row.get("scores", range(len(labels), 0, -1))
        if len(labels) != len(scores):
            raise DataError(f"{len(labels)} labels but {len(scores)} scores", path=path, line=line)
        yield from ((number, str(label), _score(score)) for label, score in zip(labels, scores, strict=True))
        number += 1
    _check_count(number, texts, "lines")


def _separated(path: Path, _names: Sequence[str], _texts: int) -> Iterator[Entry]:
    """A table with the columns text (a number from 0) or id, label and score."""
    key = _key_column(next((line for _, line in text_lines(path)), "").replace('"', ""))
    _check_columns(key, column_names(path, [key, "label", "score"]))
    for _, cells in table_records(path, [key, "label", "score"]):
        yield cells[0] if key == "id" else _number(cells[0]), cells[1], _score(cells[2])


def _check_columns(key: str, there: Sequence[str]) -> None:
    for name in (key, "label", "score"):
        if name not in there:
            raise absent("column", name, there, "predictions have text (a number from 0) or id, label and score")


def _key_column(header: str) -> str:
    names = {name.strip() for delimiter in ",;\t|" for name in header.split(delimiter)}
    return "id" if "text" not in names and "id" in names else "text"


def _parquet(path: Path, _names: Sequence[str], _texts: int) -> Iterator[Entry]:
    """The same in columns."""
    from treetop.data.frames import frames

    for frame in frames(path, ["label", "score"], optional=["text", "id"]):
        key = next((name for name in ("text", "id") if name in frame.columns), None)
        _check_columns(key or "text", frame.columns)
        for text, label, score in frame.select(key, "label", "score").iter_rows():
            yield str(text) if key == "id" else _number(text), str(label), _score(score)


def _trec(path: Path, _names: Sequence[str], _texts: int) -> Iterator[Entry]:
    """A TREC run: `id Q0 label rank score tag`."""
    for number, line in text_lines(path):
        words = line.split()
        if words and len(words) != 6:
            raise DataError(f"{len(words)} words, expected `id Q0 label rank score tag`", path=path, line=number)
        if words:
            yield unquote(words[0]), unquote(words[2]), _score(words[4])


def _npz(path: Path, names: Sequence[str], texts: int) -> Iterator[Entry]:
    """A sparse matrix, texts × labels; `names` in the file, or columns as in the data."""
    scores, own = read_matrix(path), read_words(path, "names") or list(names)
    if len(own) < scores.shape[1]:
        raise DataError(
            f"the matrix has {scores.shape[1]:,} columns, the data {len(own):,} labels; give the same labels"
        )
    _check_count(scores.shape[0], texts, "rows")
    for row, column, score in zip(row_numbers(scores).tolist(), scores.indices.tolist(), scores.data, strict=True):
        yield row, own[column], _score(score)


READERS: dict[str, Callable[[Path, Sequence[str], int], Iterator[Entry]]] = {
    ".jsonl": _json_lines,
    ".csv": _separated,
    ".tsv": _separated,
    ".parquet": _parquet,
    ".trec": _trec,
    ".npz": _npz,
}
"""The forms, by the endings of their files: the same as those that are written."""

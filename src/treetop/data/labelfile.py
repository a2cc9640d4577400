"""Names and texts of the labels, from a file beside the data.

`labels.txt` and `labels.tsv` hold `label<TAB>text` per line, `labels.jsonl` holds `{"label": …, "text": …}`; papers'
releases have one name or title per line, in column order (`output-items.txt`, `label_map.txt`, `Yf.txt`,
`lbl.raw.txt`). Names made of words are texts as well; numbers and codes are names only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from treetop.data.dataset import LabelSpace
from treetop.data.fields import absent, as_text
from treetop.data.jsonl import json_objects
from treetop.data.limits import allowance
from treetop.data.lines import Place, lines, text_lines
from treetop.errors import DataError
from treetop.sparse import from_parts
from treetop.types import CSR

__all__ = ["label_texts", "numbered_space", "read_catalogue", "released_texts"]

_WITH_NAMES = ("labels.jsonl", "labels.jsonl.gz", "labels.tsv", "labels.txt")
_IN_ORDER = (
    "output-items.txt",
    "label_map.txt",
    "Yf.txt",
    "lbl.raw.txt",
    "raw_data/lbl.raw.txt",
    "raw_text/lbl.raw.txt",
)


_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{3,}(?![^\W_])")


class Entry(NamedTuple):
    """One label of a label file."""

    name: str
    text: str | None


def label_texts(folder: Path) -> dict[str, str]:
    """The text of each label that the folder's label file describes; empty if there is no such file."""
    path = _first(folder, _WITH_NAMES)
    return {} if path is None else {name: text for name, text in _entries(path) if text is not None}


def read_catalogue(path: Path) -> LabelSpace:
    """All labels of a label file, one that is named twice with the text it has first."""
    if not path.is_file():
        raise DataError("no such file; give one with label<TAB>text per line", path=path)
    entries = {name: text or name for name, text in reversed(list(_entries(path))) if name}
    if not entries:
        raise DataError("the file names no label; write label<TAB>text per line", path=path)
    names = list(reversed(entries))
    return LabelSpace(names, [entries[name] for name in names])


def numbered_space(folder: Path | None, labels: CSR) -> tuple[CSR, LabelSpace]:
    """Names (and texts) of labels that are columns of a matrix; without a label file, their numbers are the names.

    A matrix that promises far more columns than it has entries gets those that occur, under their numbers.
    """
    count = labels.shape[1]
    path = None if folder is None else _first(folder, (*_IN_ORDER, *_WITH_NAMES))
    entries = [] if path is None else list(_entries(path))
    if path is not None and len(entries) == count:
        return labels, _space_in_order(entries, [str(label) for label in range(count)])
    if not all(_is_number(name, count) for name, _ in entries):
        hint = "one line per label, in column order"
        raise DataError(f"{len(entries)} labels, but the label matrix has {count} columns; expected {hint}", path=path)
    labels, numbers = _named_columns(labels)
    space = LabelSpace(list(map(str, numbers)))
    return labels, space.with_texts({name: text for name, text in entries if text is not None}) if path else space


def _named_columns(labels: CSR) -> tuple[CSR, Sequence[int]]:
    """The matrix and the number of each column: all that it promises, or those that occur."""
    if labels.shape[1] <= allowance(labels.nnz):
        return labels, range(labels.shape[1])
    used, columns = np.unique(labels.indices, return_inverse=True)
    return from_parts(labels.indptr, columns, labels.data, columns=len(used)), used.tolist()


def _is_number(name: str, count: int) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 20 and str(int(name)) == name and int(name) < count


def released_texts(space: LabelSpace, folder: Path) -> LabelSpace:
    """The space with texts, if its names are words, or numbers of lines in the release's file of labels."""
    path = _first(folder, _IN_ORDER)
    if path is not None and all(name.isdecimal() for name in space.names):
        titles = [text or name for name, text in _entries(path)]
        if _are_words(titles) and max(map(int, space.names), default=0) < len(titles):
            return space.with_texts({str(line): _spaced(title) for line, title in enumerate(titles)})
    return space.with_texts({name: _spaced(name) for name in space.names}) if _are_words(space.names) else space


def _space_in_order(entries: list[Entry], numbers: list[str]) -> LabelSpace:
    names = [name for name, _ in entries]
    if len(set(names)) < len(names) or not all(names):  # titles rather than names: items may share one
        return LabelSpace(numbers, [text or name for name, text in entries])
    if any(text is not None for _, text in entries):
        return LabelSpace(names, [text or name for name, text in entries])
    return LabelSpace(names, [_spaced(name) for name in names] if _are_words(names) else None)


def _are_words(names: Sequence[str]) -> bool:
    """Whether most names have a word in them, of letters alone; codes such as B00A1 or Q42 have none."""
    return 2 * sum(_WORD.search(name) is not None for name in names) > len(names)


def _spaced(name: str) -> str:
    """The words of a name that is written as one, such as soft_wheat."""
    return name if " " in name else name.replace("_", " ")


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _entries(path: Path) -> Iterator[Entry]:
    return _from_json(path) if ".jsonl" in path.suffixes else _from_lines(path)


def _from_lines(path: Path) -> Iterator[Entry]:
    blank = 0
    for _, line in text_lines(path):
        if not line.strip():
            blank += 1
            continue
        yield from (Entry("", None) for _ in range(blank))  # a label without a title keeps its column
        blank = 0
        name, tab, text = line.partition("\t")
        yield Entry(name.strip(), text.strip() if tab else None)


def _from_json(path: Path) -> Iterator[Entry]:
    with Place(path) as place:
        for place.line, record in json_objects(lines(path), path):
            if "label" not in record:
                raise absent("field", "label", record, "give each object a label")
            yield Entry(
                str(record["label"]), as_text(record["text"], "text") if record.get("text") is not None else None
            )

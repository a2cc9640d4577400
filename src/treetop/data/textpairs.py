"""Texts in one file and labels in another, line by line, as papers release them: `train_raw_texts.txt` beside
`train_labels.txt`.
"""

from __future__ import annotations

from pathlib import Path

from treetop.data.dataset import LabelRows
from treetop.data.lines import Place, text_lines
from treetop.data.tally import Tally
from treetop.errors import DataError
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.types import CSR

__all__ = ["read_label_lines", "read_text_lines", "same_length"]


def read_text_lines(path: Path, runtime: Runtime | None = None, tally: Tally | None = None) -> list[str]:
    """One text per line; an empty line is an empty text."""
    return [line for _, line in text_lines(path, runtime, tally)]


def read_label_lines(
    path: Path,
    separator: str | None,
    rows: LabelRows,
    runtime: Runtime | None = None,
    tally: Tally | None = None,
) -> None:
    """One row of labels per line, between white space unless a separator is given; an empty line is a row without."""
    with Place(path) as place:
        for place.line, line in text_lines(path, runtime, tally):
            parts = line.split(separator or None) if separator != "" else [line]
            rows.add([part.strip() for part in parts])


def same_length(texts: list[str], labels: CSR, text_file: Path, label_file: Path) -> tuple[list[str], CSR]:
    """Texts and labels cut to one length, if what is cut off is empty lines at the end of the longer file."""
    rows = labels.shape[0]
    count = min(len(texts), rows)
    if any(text.strip() for text in texts[count:]) or labels.indptr[count] != labels.nnz:
        message = f"{len(texts)} texts, but {label_file.name} has {rows} rows of labels; both need one row per text"
        raise DataError(message, path=text_file)
    return texts[:count], labels if count == rows else canonical(labels[:count])

"""What people hand over as texts and as labels, brought into one form: strings, rows of names, or a matrix.

Lists, columns of any table package, numpy arrays and sparse matrices are told apart by what they can do, so that no
table package is imported. A missing cell (None, NaN, NA) is an empty text, or no label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse as sp

from treetop.errors import DataError
from treetop.sparse import canonical, from_parts
from treetop.types import CSR

__all__ = ["Labels", "as_matrix", "as_texts", "column_names", "is_table", "name_rows", "named", "nearest", "shown"]

Labels: TypeAlias = Any
"""Rows of label names, one column of a table whose cells are such rows, or a 0/1 matrix, dense or sparse."""

_MISSING = {"NAType", "NaTType"}  # of pandas, which is not imported for it
_COLUMNS_AS_LISTS = ("to_pylist", "to_list", "tolist")  # pyarrow; pandas and polars; numpy
_NEAR_AMONG = 50_000  # names looked at for the nearest: a million would take seconds


def as_texts(values: Any) -> list[str]:
    """The texts of a list, of a column or of any other iterable."""
    if type(values) is list and set(map(type, values)) <= {str}:  # nearly always, and every microsecond counts
        return values
    if isinstance(values, str | bytes):
        raise DataError("a single string was given; give a list of texts, even if it is only one")
    if is_table(values):
        raise DataError(
            "a whole table was given; read it with treetop.read(table, text=…, labels=…), or give one of its columns"
        )
    if sp.issparse(values) or (isinstance(values, np.ndarray) and values.dtype.kind in "biufc"):
        raise DataError("numbers were given instead of texts; ready-made features go in as Corpus([], features)")
    texts = _cells(values, "the texts are")
    if set(map(type, texts)) <= {str}:
        return texts
    return [_text(text, row) for row, text in enumerate(texts)]


def is_table(values: Any) -> bool:
    """Whether this is a table with named columns: pandas, polars, pyarrow, Hugging Face, a dictionary of columns."""
    return isinstance(values, Mapping) or hasattr(values, "column_names") or _is_frame(values)


def as_matrix(labels: Labels) -> CSR | None:
    """The labels as texts × columns if they are a matrix, else None. Zeros are no labels.

    The values of a sparse matrix above zero are relevances, as in files. In a dense one only 0 and 1 are taken: any
    other number is likely to mean something else, such as the number of a label.
    """
    if _is_frame(labels):
        labels = labels.to_numpy()
    if sp.issparse(labels) and getattr(labels, "ndim", 2) == 2:
        matrix = canonical(labels).copy()
        _refuse_entry(matrix, ~((matrix.data >= 0) & np.isfinite(matrix.data)), "finite and not negative")
    elif isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.dtype.kind in "biufc":
        rows, columns = np.nonzero(labels)
        values = np.asarray(labels)[rows, columns]
        indptr = np.searchsorted(rows, np.arange(len(labels) + 1))
        matrix = from_parts(indptr, columns, values.real.astype(np.float32), columns=labels.shape[1])
        _refuse_entry(matrix, values != 1, "0 or 1 (relevances go in as a sparse matrix, label numbers as lists)")
    else:
        return None
    matrix.eliminate_zeros()
    return matrix


def column_names(names: Any, labels: Labels, columns: int) -> list[str]:
    """The name of each column of a matrix: as given, as a table calls them, or their numbers."""
    if names is None:
        names = list(labels.columns) if _is_frame(labels) else range(columns)
    found = [_name(name, "label_names") for name in _cells(names, "label_names are")]
    if len(found) != columns:
        raise DataError(f"label_names has {len(found)} names for a matrix of {columns} columns; give one per column")
    if not all(found):
        raise DataError("label_names has an empty name; give each column a name")
    return [name for name in found if name]


def name_rows(labels: Labels) -> Iterator[Sequence[str]]:
    """The label names of each text, in order; whole numbers become their decimal names."""
    if isinstance(labels, str | bytes | Mapping):
        raise DataError(f"the labels are {shown(labels)}; give a list of label names for each text")
    if isinstance(labels, np.ndarray) and labels.ndim > 2:
        raise DataError(f"the labels have {labels.ndim} dimensions; give a matrix of texts × labels")
    for row, cell in enumerate(_cells(labels, "the labels are")):
        yield cell if type(cell) in (list, tuple) and set(map(type, cell)) <= {str} else _names(cell, row)


def named(names: Any, what: str = "labels") -> list[str]:
    """One list of label names."""
    if isinstance(names, str | bytes | Mapping):
        raise DataError(f"{what} is {shown(names)}; give a list of names")
    return [name for name in (_name(name, what) for name in _cells(names, f"{what} is")) if name]


def nearest(name: str, names: Sequence[str]) -> str:
    """A hint at the name that was perhaps meant, to be put before the rest of a message; or nothing."""
    begin = name[:1].casefold()
    alike = list(islice((other for other in names if other[:1].casefold() == begin), _NEAR_AMONG))
    near = [other for other in alike if other.casefold() == name.casefold()] or get_close_matches(name, alike, n=3)
    return f"did you mean {' or '.join(map(repr, near))}? " if near else ""


def shown(value: Any) -> str:
    """A value in a message: short enough for one line."""
    text = " ".join(repr(value).split())
    return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"


def _is_frame(values: Any) -> bool:
    return hasattr(values, "columns") and hasattr(values, "to_numpy")


def _cells(values: Any, what: str) -> list[Any]:
    """A column, or any other iterable, as a list."""
    if type(values) is list:
        return values
    for way in _COLUMNS_AS_LISTS:
        if hasattr(values, way):
            cells = getattr(values, way)()
            return cells if isinstance(cells, list) else [cells]
    if not isinstance(values, Iterable):
        raise DataError(f"{what} {shown(values)}; give a list with one entry per text")
    return list(values)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and value != value) or (
        type(value).__name__ in _MISSING
    )  # fmt: skip


def _text(value: Any, row: int) -> str:
    if isinstance(value, str):
        return str(value)
    if _missing(value):
        return ""
    raise DataError(f"text {row} is {shown(value)}, not a string; give strings, with None for a missing text")


def _names(cell: Any, row: int) -> list[str]:
    """The names in one cell; a set, an array or a generator of them will do, too."""
    if _missing(cell):
        return []
    if isinstance(cell, str | bytes | Mapping) or not isinstance(cell, Iterable):
        raise DataError(f"the labels of text {row} are {shown(cell)}; give a list of names, such as ['a', 'b']")
    parts = _cells(cell, "")
    if _is_indicator(parts):
        raise DataError(
            f"the labels of text {row} are a row of zeros and ones; give the whole 0/1 matrix as an array, "
            "such as numpy.asarray(labels)"
        )
    return [name for name in (_name(part, f"the labels of text {row}") for part in parts) if name is not None]


def _is_indicator(parts: Sequence[Any]) -> bool:
    """Whether this is a row of a 0/1 matrix, and no list of label numbers, of which none would be there twice."""
    numbers = all(isinstance(part, int | float | np.number) and part in (0, 1) for part in parts)
    return numbers and (len(parts) > 2 or (len(parts) == 2 and bool(parts[0] == parts[1])))


def _name(value: Any, what: str) -> str | None:
    """The name of a label; None for a missing one."""
    if isinstance(value, str):
        return str(value)
    if _missing(value):
        return None
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    # A column of whole numbers with gaps comes out of a table as floats.
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    raise DataError(f"{what} hold {shown(value)}; label names are strings or whole numbers")


def _refuse_entry(matrix: CSR, bad: np.ndarray[Any, np.dtype[np.bool_]], must: str) -> None:
    wrong = np.flatnonzero(bad)
    if len(wrong):
        row = int(np.searchsorted(matrix.indptr, wrong[0], side="right")) - 1
        raise DataError(
            f"the label matrix holds {matrix.data[wrong[0]]:g} at row {row}, column {matrix.indices[wrong[0]]}; "
            f"entries must be {must}"
        )

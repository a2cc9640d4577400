"""Pairs of text and label that benchmarks leave out of their evaluation: `filter_labels_test.txt`.

In benchmarks whose labels are texts of the same kind (LF-AmazonTitles-131K: products that are bought with products), a
text may be that of a label. To suggest it would be neither right nor wrong. A line is `row column`, both from 0.
"""

from __future__ import annotations

import re
from array import array
from pathlib import Path

import numpy as np
from scipy import sparse as sp

from treetop.data.lines import Place, lines
from treetop.errors import DataError
from treetop.sparse import binarise, canonical
from treetop.types import CSR

__all__ = ["read_filter"]

_PAIR = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s*")


def read_filter(path: Path, shape: tuple[int, int]) -> CSR:
    """The pairs of the file as entries of a matrix texts × labels of that shape."""
    numbers = array("q")
    with Place(path) as place:
        for place.line, line in lines(path):
            if line.strip():
                numbers.extend(_pair(line, shape))
    rows, columns = np.frombuffer(numbers, np.int64).reshape(-1, 2).T
    return binarise(canonical(sp.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)))


def _pair(line: bytes, shape: tuple[int, int]) -> tuple[int, int]:
    match = _PAIR.fullmatch(line)
    if not match:
        raise DataError(
            f"cannot be parsed: {line[:60].decode('utf-8', 'replace')!r}; expected 'text label', such as 0 12"
        )
    row, column = map(int, match.groups())
    if row >= shape[0] or column >= shape[1]:
        raise DataError(f"text {row} and label {column}, but there are {shape[0]} texts and {shape[1]} labels, from 0")
    return row, column

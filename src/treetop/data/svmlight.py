"""The text format of the XMC repository: bags of words with label numbers.

    15539 5000 3993            texts, features, labels
    446,521,1149 0:0.084 5:0.1 label numbers, then feature:value; both count from 0

A line without labels begins with a space, or with its first feature. Matrices on their own (`trn_X_Y.txt`,
`trn_X_Xf.txt`) have two counts, rows and columns, and `column:value` in every line.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from treetop.data.lines import Place, lines
from treetop.data.matrices import check_columns, check_values
from treetop.errors import DataError
from treetop.runtime import Runtime
from treetop.sparse import binarise, canonical
from treetop.types import CSR

__all__ = ["has_header", "read_rows", "read_svmlight"]

_BATCH = 2048  # lines whose numbers are parsed in one call
_HEADER = re.compile(rb"\s*(\d+)\s+(\d+)\s+(\d+)\s*")
_SHAPE = re.compile(rb"\s*(\d+)\s+(\d+)\s*")
_DIGITS = 18
_MOST = 2**31 - 1  # columns: their numbers have 32 bits
_VALUE = rb"-?(?:\d+(?:\.\d*)?|\.\d+|inf|nan)(?:[eE][-+]?\d+)?"
# No two ways to take the same digits: a bad line would be tried in all of them.
_PAIRS = rb"-?\d+:" + _VALUE + rb"(?:\s+-?\d+:" + _VALUE + rb")*"
_LINE = re.compile(rb"(?:(?:-?\d+(?:,-?\d+)*)?(?:\s+" + _PAIRS + rb")?|" + _PAIRS + rb")\s*")


class Header(NamedTuple):
    """The three counts of the first line."""

    texts: int
    features: int
    labels: int


class Batch(NamedTuple):
    """Numbers of some lines: counts per line, and label numbers and features of all of them one after another."""

    label_counts: list[int]
    labels: NDArray[np.float64]
    feature_counts: list[int]
    features: NDArray[np.float64]  # entries × 2: column, value


class Growing:
    """A sparse matrix that grows row by row, without holding its parts twice."""

    def __init__(self) -> None:
        self.ends = array("q", [0])
        self.columns = array("i")
        self.values = array("f")

    def add(self, counts: Sequence[int], columns: NDArray[Any], values: NDArray[Any]) -> None:
        """Rows of `counts` entries each."""
        self.ends.frombytes((self.ends[-1] + np.cumsum(counts, dtype=np.int64)).tobytes())
        self.columns.frombytes(columns.astype(np.int32).tobytes())
        self.values.frombytes(values.astype(np.float32).tobytes())

    def finish(self, width: int) -> CSR:
        """The matrix, canonical."""
        parts = (np.frombuffer(self.values, np.float32), np.frombuffer(self.columns, np.int32))
        ends = np.frombuffer(self.ends, np.int64)
        return canonical(sp.csr_array((*parts, ends), shape=(len(ends) - 1, width)))


def has_header(path: Path) -> bool:
    """Whether the first line is that of this format."""
    return bool(_HEADER.fullmatch(next(lines(path), (1, b""))[1]))


def read_svmlight(path: Path, runtime: Runtime | None = None) -> tuple[CSR, CSR]:
    """The features (texts × features) and the labels (texts × labels) of the file."""
    source = lines(path, runtime)
    header = Header(*_counts(_HEADER, "texts, features, labels, such as 15539 5000 3993", source, path))
    features, labels = _read(source, header, path)
    with Place(path):
        check_values(features, "the features")
    return features, binarise(labels)


def read_rows(path: Path, what: str, runtime: Runtime | None = None) -> CSR:
    """The matrix of a file that holds nothing else; `what` says of what its entries are."""
    source = lines(path, runtime)
    rows, columns = _counts(_SHAPE, "rows, columns, such as 294805 131073", source, path)
    matrix, _ = _read(source, Header(rows, columns, 0), path)
    with Place(path):
        check_values(matrix, what)
    return matrix


def _read(source: Iterator[tuple[int, bytes]], header: Header, path: Path) -> tuple[CSR, CSR]:
    features, labels = Growing(), Growing()
    with Place(path) as place:
        check_columns(header.features)
        for place.line, batch in _batches(source, header, path):
            _check_range(batch.labels, batch.label_counts, min(header.labels, _MOST), "label", place)
            _check_range(batch.features[:, 0], batch.feature_counts, header.features, "feature", place)
            features.add(batch.feature_counts, batch.features[:, 0], batch.features[:, 1])
            labels.add(batch.label_counts, batch.labels, np.ones(len(batch.labels)))
    if len(features.ends) - 1 != header.texts:
        found = len(features.ends) - 1
        raise DataError(f"the header promises {header.texts} texts, the file has {found}; is it cut short?", path=path)
    return features.finish(header.features), labels.finish(min(header.labels, _MOST))


def _counts(pattern: re.Pattern[bytes], which: str, source: Iterator[tuple[int, bytes]], path: Path) -> list[int]:
    """The counts of the first line."""
    line = next(source, (1, b""))[1]
    match = pattern.fullmatch(line)
    if not match:
        counts = {2: "two", 3: "three"}[pattern.groups]
        raise DataError(
            f"the first line is {line[:60].decode('utf-8', 'replace')!r}, expected {counts} counts ({which}); "
            "add that line, or give texts with their labels as csv or jsonl",
            path=path,
            line=1,
        )
    if max(map(len, match.groups())) > _DIGITS:
        names = which.partition(", such")[0]
        raise DataError(f"a count of more than {_DIGITS} digits; these are {names}", path=path, line=1)
    return [int(count) for count in match.groups()]


def _batches(source: Iterator[tuple[int, bytes]], header: Header, path: Path) -> Iterator[tuple[int, Batch]]:
    """(first line number, numbers) of the lines that the header promises; blank lines behind them are skipped."""
    left, start = header.texts, 2
    while left and (batch := list(islice(source, min(left, _BATCH)))):
        yield start, _parse([line for _, line in batch], path, start)
        start, left = start + len(batch), left - len(batch)
    for number, line in source:
        if line.strip():
            raise DataError(f"the header promises {header.texts} texts, but here is one more", path=path, line=number)


def _parse(batch: Sequence[bytes], path: Path, start: int) -> Batch:
    """All numbers of the lines in two calls of a fast parser; if one cannot be parsed, look for its line."""
    heads, tails = zip(*(_halves(line) for line in batch), strict=True)
    label_counts = [head.count(b",") + 1 if head else 0 for head in heads]
    feature_counts = [tail.count(b":") for tail in tails]
    labels = _numbers(b",".join(head for head in heads if head), ",")
    features = _numbers(b" ".join(tails).replace(b":", b" "), " ")
    if len(labels) != sum(label_counts) or len(features) != 2 * sum(feature_counts):
        raise _bad_line(batch, path, start)
    return Batch(label_counts, labels, feature_counts, features.reshape(-1, 2))


def _halves(line: bytes) -> tuple[bytes, bytes]:
    """The labels and the features of a line."""
    head, _, tail = line.replace(b"\t", b" ").partition(b" ")
    return (b"", line) if b":" in head else (head, tail)


def _numbers(joined: bytes, separator: str) -> NDArray[np.float64]:
    """The numbers of a string; none if one of them cannot be parsed. Polars does it seven times as fast as numpy."""
    import polars as pl

    parts = pl.Series([joined.decode("utf-8", "replace")]).str.split(separator).explode()
    numbers = parts.filter(parts != "").cast(pl.Float64, strict=False)
    return np.empty(0) if numbers.null_count() else numbers.to_numpy()


def _bad_line(batch: Sequence[bytes], path: Path, start: int) -> DataError:
    """The error for the first line that does not fit the format."""
    number, line = next(
        ((number, line) for number, line in enumerate(batch, start) if not _LINE.fullmatch(line)), (start, batch[0])
    )
    shown = line[:60].decode("utf-8", "replace")
    return DataError(f"cannot be parsed: {shown!r}; expected 'label,label feature:value …'", path=path, line=number)


def _check_range(found: NDArray[Any], counts: Sequence[int], width: int, what: str, place: Place) -> None:
    bad = np.flatnonzero(~((found >= 0) & (found < width) & (found == np.floor(found))))
    if len(bad):
        place.line += int(np.searchsorted(np.cumsum(counts), bad[0], side="right"))
        hint = "; numbers count from 0" if found[bad[0]] == width else ""
        raise DataError(f"{what} {found[bad[0]]:g} is out of range: the header promises {width} {what}s{hint}")

"""The true labels of texts, in whatever form they are at hand, as a matrix beside the predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from treetop.errors import DataError
from treetop.predictions import Predictions
from treetop.sparse import canonical, from_parts
from treetop.tagging import as_matrix, column_names, name_rows
from treetop.types import CSR

__all__ = ["Truth", "as_truth", "counted"]

Truth: TypeAlias = Any
"""Label names of each text, a 0/1 matrix, or a dataset."""


class _Names(Protocol):
    @property
    def names(self) -> Sequence[str]: ...


@runtime_checkable
class _Tagged(Protocol):
    """What a dataset has; data and metrics do not know each other."""

    @property
    def labels(self) -> CSR: ...
    @property
    def space(self) -> _Names: ...


def as_truth(predictions: Predictions, truth: Truth, label_names: Any = None) -> CSR:
    """Texts × labels with the predictions' columns first; names that the model does not know come behind them.

    A matrix without `label_names` has the predictions' columns already, as has a dataset that was read with the
    model's label space.
    """
    if isinstance(truth, CSR) and label_names is None:
        return truth
    if isinstance(truth, _Tagged):
        if label_names is not None:
            raise DataError("label_names are for the columns of a 0/1 matrix; a dataset has its names already")
        return _moved(truth.labels, truth.space.names, predictions)
    matrix = as_matrix(truth)
    if matrix is None:
        return _encoded(name_rows(truth), predictions)
    if label_names is None and not hasattr(truth, "columns"):
        return matrix
    return _moved(matrix, column_names(label_names, truth, matrix.shape[1]), predictions)


def counted(predictions: Predictions, truth: Truth) -> Predictions:
    """The predictions without the pairs of text and label that a benchmark leaves out of its evaluation.

    Ask for as many labels more as `Dataset.most_filtered` says, or lists get shorter than k.
    """
    filtered = getattr(truth, "filtered", None)
    if filtered is None or not filtered.nnz:
        return predictions
    return predictions.without(_moved(filtered, truth.space.names, predictions))


def _moved(labels: CSR, own: Sequence[str], predictions: Predictions) -> CSR:
    """The matrix with its columns where the predictions have them."""
    names = predictions.names
    if names is None or (len(own) >= len(names) and all(map(str.__eq__, names, own))):
        return labels
    index = {name: number for number, name in enumerate(names)}
    column_of = np.array([index.setdefault(name, len(index)) for name in own], np.int32)
    moved = from_parts(labels.indptr, column_of[labels.indices], labels.data, columns=len(index))
    moved.has_canonical_format = moved.has_sorted_indices = False
    return canonical(moved)


def _encoded(rows: Iterable[Sequence[str]], predictions: Predictions) -> CSR:
    """Rows of names as a matrix."""
    if predictions.names is None:
        raise DataError("the predictions have no label names; give the true labels as a matrix, or names= to them")
    index = {name: number for number, name in enumerate(predictions.names)}
    columns: list[int] = []
    ends = [0]
    for row in rows:
        columns += sorted({index.setdefault(name, len(index)) for name in row if name})
        ends.append(len(columns))
    return from_parts(np.array(ends), np.array(columns, np.int32), None, columns=len(index))

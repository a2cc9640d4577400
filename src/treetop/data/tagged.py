"""Texts and labels as people have them in a program, as a dataset."""

from __future__ import annotations

from typing import Any

from treetop.data.dataset import Corpus, Dataset, LabelRows, LabelSpace
from treetop.data.matrices import in_space
from treetop.errors import DataError
from treetop.tagging import Labels, as_matrix, as_texts, column_names, name_rows
from treetop.types import CSR

__all__ = ["as_corpus", "tagged"]


def as_corpus(texts: Any) -> Corpus:
    """Whatever texts are given, as a corpus; the labels of a dataset are left behind."""
    if isinstance(texts, Dataset):
        return texts.corpus
    return texts if isinstance(texts, Corpus) else Corpus(as_texts(texts))


def tagged(texts: Any, labels: Labels | None, label_names: Any = None) -> Dataset:
    """A dataset of texts and the labels of each: rows of names, a column of such rows, or a matrix.

    The columns of a matrix that no text has are left out, as rows of names would never tell of them.
    """
    if isinstance(texts, Dataset):
        if labels is not None:
            raise DataError("a dataset has its labels already; give either a dataset, or texts and labels")
        return texts
    corpus = as_corpus(texts)
    if labels is None:
        raise DataError("texts were given without labels; give the list of label names of each text")
    matrix, space = _label_matrix(labels, label_names)
    if matrix.shape[0] != len(corpus):
        raise DataError(f"{len(corpus)} texts but {matrix.shape[0]} rows of labels; give one row of labels per text")
    return Dataset(corpus, matrix, space)


def _label_matrix(labels: Labels, label_names: Any) -> tuple[CSR, LabelSpace]:
    """Texts × labels, the columns in the order of their names."""
    matrix = as_matrix(labels)
    if matrix is not None:
        own = LabelSpace(column_names(label_names, labels, matrix.shape[1]))
        return in_space(matrix, own, LabelSpace(()))
    if label_names is not None:
        raise DataError("label_names are for the columns of a 0/1 matrix; these labels have their names already")
    rows = LabelRows()
    for names in name_rows(labels):
        rows.add(names)
    return rows.finish()

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse as sp

from treetop.data import Corpus, Dataset
from treetop.data.tagged import as_corpus, tagged
from treetop.errors import DataError
from treetop.methods.xr_linear import XRLinear
from treetop.sparse import canonical

TEXTS = ["red apple", "green apple", "rain today", "sun today", "no tags"]
NAMES = [["fruit", "red"], ["fruit"], ["weather"], ["weather", "b"], []]
COLUMNS = ["never used", "weather", "fruit", "red", "b"]  # in no order, one without a text
MATRIX = np.array([[name in row for name in COLUMNS] for row in NAMES])


def same(one: Dataset, other: Dataset) -> bool:
    """Equal to the last bit: what is learned from the two is the same."""
    arrays = zip(*((d.labels.indptr, d.labels.indices, d.labels.data) for d in (one, other)), strict=True)
    equal = all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in arrays)
    return equal and one.space == other.space and one.corpus.texts == other.corpus.texts


@pytest.mark.parametrize("kind", ["bool", "int64", "uint8", "float32"])
def test_a_dense_matrix_is_as_good_as_names(kind: str) -> None:
    assert same(tagged(TEXTS, MATRIX.astype(kind), COLUMNS), tagged(TEXTS, NAMES))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("form", ["array", "matrix"])
def test_a_sparse_matrix_is_as_good_as_names(kind: str, form: str) -> None:
    labels = getattr(sp, f"{kind}_{form}")(MATRIX.astype(np.int64))
    assert same(tagged(TEXTS, labels, np.array(COLUMNS, object)), tagged(TEXTS, NAMES))


def test_a_stored_zero_is_no_label_and_a_sparse_weight_is_a_relevance() -> None:
    labels = sp.csr_array(([1.0, 0.0, 2.5], [0, 1, 1], [0, 2, 3]), shape=(2, 2))
    data = tagged(["a", "b"], labels, ["x", "y"])
    np.testing.assert_array_equal(data.labels.toarray(), [[1, 0], [0, 2.5]])
    assert data.labels.nnz == 2


def test_columns_without_names_are_called_by_their_numbers() -> None:
    wide = np.zeros((2, 11), int)
    wide[0, [10, 2]] = wide[1, 9] = 1
    assert same(tagged(["a", "b"], wide), tagged(["a", "b"], [[2, 10], [9]]))
    assert tagged(["a", "b"], wide).space.names == ("10", "2", "9")


def test_a_table_of_zeros_and_ones_brings_its_names() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for table in (pandas.DataFrame(MATRIX, columns=COLUMNS), polars.DataFrame(MATRIX, schema=COLUMNS)):
        assert same(tagged(TEXTS, table), tagged(TEXTS, NAMES))


def columns(values: list[Any]) -> list[Any]:
    """One column in every package that is installed."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    import polars

    objects = np.empty(len(values), object)
    objects[:] = values
    arrow = pyarrow.array(values)
    return [pandas.Series(values), polars.Series(values), arrow, pyarrow.chunked_array([arrow]), objects]


def test_columns_of_tables() -> None:
    gaps = [*NAMES[:4], None]
    for labels in columns(gaps):
        for texts in columns([*TEXTS]):
            assert same(tagged(texts, labels), tagged(TEXTS, NAMES))


def test_any_iterables() -> None:
    for rows in (tuple(map(tuple, NAMES)), [set(row) for row in NAMES], (iter(row) for row in NAMES),
                 [np.array(row, object) for row in NAMES], [dict.fromkeys(row).keys() for row in NAMES]):  # fmt: skip
        assert same(tagged(iter(TEXTS), rows), tagged(TEXTS, NAMES))


def test_the_same_model_from_a_matrix() -> None:
    texts, names = TEXTS * 5, NAMES * 5
    by_names = XRLinear().fit(texts, names).predict(texts, k=3)
    assert XRLinear().fit(texts, np.tile(MATRIX, (5, 1)), label_names=COLUMNS).predict(texts, k=3) == by_names
    numbers = XRLinear().fit(texts, np.tile(MATRIX, (5, 1))).predict(texts, k=1)
    assert type(numbers[0][0].label) is str


@pytest.mark.parametrize(
    ("labels", "names", "message"),
    [
        (MATRIX[:3], None, "5 texts but 3 rows of labels"),
        (sp.csr_array(MATRIX)[:3], None, "5 texts but 3 rows of labels"),
        (NAMES[:3], None, "5 texts but 3 rows of labels"),
        (MATRIX, ["a", "b"], "label_names has 2 names for a matrix of 5 columns"),
        (MATRIX, ["a", "b", "a", "c", "d"], "'a' occurs twice"),
        (MATRIX, ["a", "b", "", "c", "d"], "label_names has an empty name"),
        (NAMES, COLUMNS, "have their names already"),
        (None, None, "without labels"),
    ],
)
def test_what_does_not_fit(labels: Any, names: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        tagged(TEXTS, labels, names)


def test_inputs_become_a_corpus(toy_train: Dataset) -> None:
    assert as_corpus(toy_train) is toy_train.corpus
    assert as_corpus(toy_train.corpus) is toy_train.corpus
    assert as_corpus(("a", "b")).texts == ["a", "b"]
    assert tagged(toy_train, None) is toy_train
    with pytest.raises(DataError, match="has its labels already"):
        tagged(toy_train, NAMES)


def test_the_features_of_a_corpus_stay() -> None:
    corpus = Corpus(TEXTS, canonical(np.eye(5, dtype=np.float32)))
    assert tagged(corpus, NAMES).corpus is corpus

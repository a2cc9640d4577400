from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from treetop.errors import DataError
from treetop.tagging import as_matrix, as_texts, is_table, name_rows, named, nearest, shown


def test_texts_of_any_kind_are_plain_strings() -> None:
    given: list[Any] = [["a", "b"], ("a", "b"), np.array(["a", "b"]), iter(["a", "b"]), [np.str_("a"), "b"]]
    for texts in given:
        found = as_texts(texts)
        assert found == ["a", "b"]
        assert {type(text) for text in found} == {str}


def test_missing_texts_are_empty() -> None:
    pandas = pytest.importorskip("pandas")
    assert as_texts([None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT, "a"]) == ["", "", "", "", "", "a"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one", "single string"),
        (b"one", "single string"),
        ({"text": ["a"]}, r"whole table.*treetop\.read\(table, text=…, labels=…\)"),
        (np.eye(2), r"numbers were given.*Corpus\(\[\], features\)"),
        (csr_array(np.eye(2)), "numbers were given"),
        (7, r"the texts are 7 \(int\)"),
        (["a", 3.5], r"text 1 is 3.5 \(float\), not a string"),
        ([["a"]], r"text 0 is \['a'\] \(list\), not a string"),
    ],
)
def test_what_is_no_text(texts: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        as_texts(texts)


def test_tables_are_known_without_their_packages() -> None:
    import polars

    assert is_table(polars.DataFrame({"a": [1]}))
    assert not is_table(polars.Series([1]))
    for package, make in (("pandas", "DataFrame"), ("pyarrow", "table")):
        module = pytest.importorskip(package)
        assert is_table(getattr(module, make)({"a": [1]}))


def test_names_are_strings_whatever_they_were() -> None:
    rows = [[1, np.int64(20)], [3.0, np.float32(4)], None, float("nan"), [None, "a", float("nan")], np.array([7, 8])]
    assert [list(row) for row in name_rows(rows)] == [["1", "20"], ["3", "4"], [], [], ["a"], ["7", "8"]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("word", r"the labels of text 1 are 'word' \(str\); give a list of names"),
        (b"word", "the labels of text 1 are b'word'"),
        ({"a": 1}, r"the labels of text 1 are \{'a': 1\} \(dict\)"),
        (5, r"the labels of text 1 are 5 \(int\)"),
        ([["nested"]], r"the labels of text 1 hold \['nested'\] \(list\)"),
        ([True], r"the labels of text 1 hold True \(bool\)"),
        ([3.5], "hold 3.5"),
        ([float("inf")], "hold inf"),
        ([b"bytes"], "hold b'bytes'"),
        ([{}], r"hold \{\}"),
        ([0, 1, 1], r"a row of zeros and ones; give the whole 0/1 matrix as an array"),
        (np.array([0.0, 1.0, 0.0]), "a row of zeros and ones"),
        ([0, 0], "a row of zeros and ones"),
        ("x" * 5000, r"'xxxxx.{20,40}\.\.\. \(str\)"),
    ],
)
def test_what_is_no_row_of_names(row: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as error:
        list(name_rows([["fine"], row]))
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("labels", ["words", b"bytes", {"a": [1]}, 5, np.zeros((2, 2, 2))])
def test_what_is_no_column_of_labels(labels: Any) -> None:
    with pytest.raises(DataError, match=r"the labels (are|have)"):
        list(name_rows(labels))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.array([[0, 1], [3, 0]]), r"holds 3 at row 1, column 0; entries must be 0 or 1.*label numbers as lists"),
        (np.array([[0, np.nan]]), "holds nan at row 0, column 1"),
        (np.array([[0, -1]]), "holds -1 at row 0, column 1"),
        (csr_array(np.array([[0, -1.0]])), "holds -1 at row 0, column 1; entries must be finite and not negative"),
        (csr_array(np.array([[0, np.inf]])), "holds inf"),
    ],
)
def test_what_is_no_matrix_of_labels(matrix: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        as_matrix(matrix)


def test_rows_of_names_are_no_matrix() -> None:
    for labels in ([["a"]], np.array([["a", "b"]]), np.array([["a", 1]], object)):
        assert as_matrix(labels) is None


def test_a_matrix_is_not_changed() -> None:
    given = csr_array(np.array([[1, 1]], np.float32))
    given.data[0] = 0
    found = as_matrix(given)
    assert found is not None
    assert (found.nnz, given.nnz) == (1, 2)


def test_one_list_of_names() -> None:
    assert named(np.array([1, 2])) == ["1", "2"]
    for wrong in ("a", {"a": 1}, 5, [["a"]]):
        with pytest.raises(DataError, match=r"labels (is|hold)"):
            named(wrong)


def test_the_nearest_name() -> None:
    assert nearest("Fruits", ["fruit", "weather"]) == "did you mean 'fruit'? "
    assert nearest("fruit", ["Fruit", "fruits"]) == "did you mean 'Fruit'? "
    assert nearest("zebra", ["fruit"]) == ""


def test_values_in_messages_are_short() -> None:
    assert shown("a\nb") == r"'a\nb' (str)"
    assert len(shown(np.zeros((100, 100)))) < 60


def test_no_table_package_is_imported() -> None:
    import subprocess

    code = "import sys, treetop.tagging; print([m for m in ('pandas', 'polars', 'pyarrow') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"

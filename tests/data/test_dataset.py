from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from treetop.data import Corpus, Dataset, LabelSpace
from treetop.data.dataset import LabelRows
from treetop.errors import DataError


def test_space_knows_each_label_by_name() -> None:
    space = LabelSpace(["b", "a"])
    assert len(space) == 2
    assert space.index == {"b": 0, "a": 1}
    assert repr(space) == "LabelSpace(2 labels)"


def test_space_refuses_two_labels_of_one_name() -> None:
    with pytest.raises(DataError, match="'a' occurs twice"):
        LabelSpace(["a", "b", "a"])


def test_space_refuses_texts_of_another_length() -> None:
    with pytest.raises(DataError, match="1 label texts for 2 labels"):
        LabelSpace(["a", "b"], ["only one"])


def test_encode_gives_sorted_rows_of_ones() -> None:
    matrix = LabelSpace(["a", "b", "c"]).encode([["c", "a"], [], ["b"]])
    assert matrix.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert matrix.indices.tolist() == [0, 2, 1]
    assert matrix.dtype == np.float32
    assert matrix.indices.dtype == np.int32


def test_encode_keeps_weights_and_the_larger_of_two() -> None:
    matrix = LabelSpace(["a", "b"]).encode([["a", "b", "a"], ["b"]], [[0.5, 0.25, 0.75], [0.0]])
    assert matrix.toarray().tolist() == [[0.75, 0.25], [0, 0]]
    assert matrix.nnz == 2  # a relevance of zero is no label


def test_encode_refuses_an_unknown_name() -> None:
    with pytest.raises(DataError, match=r"label 'z' is not in the label space of 1 labels.*extended"):
        LabelSpace(["a"]).encode([["a"], ["z"]])


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_encode_refuses_impossible_weights(weight: float) -> None:
    with pytest.raises(DataError, match="weight of label 'a'"):
        LabelSpace(["a"]).encode([["a"]], [[weight]])


def test_encode_refuses_weights_of_another_length() -> None:
    with pytest.raises(DataError, match="1 labels but 2 weights"):
        LabelSpace(["a"]).encode([["a"]], [[1.0, 2.0]])
    with pytest.raises(DataError, match="1 rows of labels but 2 rows of weights"):
        LabelSpace(["a"]).encode([["a"]], [[1.0], [1.0]])


def test_encode_refuses_a_string_in_place_of_a_list() -> None:
    with pytest.raises(DataError, match="one string"):
        LabelSpace(["a"]).encode(["a"])


def test_extended_keeps_ids_and_appends_only_what_is_new() -> None:
    space = LabelSpace(["b", "a"], ["text b", "text a"])
    wider = space.extended(["a", "d", "c", "d"], {"c": "text c"})
    assert wider.names == ("b", "a", "d", "c")
    assert wider.texts == ("text b", "text a", "d", "text c")
    assert space.extended(["a"]) is space


def test_corpus_of_features_only() -> None:
    corpus = Corpus([], csr_array(np.eye(3, dtype=np.float32)))
    assert len(corpus) == 3
    taken = corpus.take([2, 0]).features
    assert taken is not None
    assert taken.toarray().tolist() == [[0, 0, 1], [1, 0, 0]]


def test_corpus_refuses_features_of_other_texts() -> None:
    with pytest.raises(DataError, match="2 texts but 3 rows of features"):
        Corpus(["a", "b"], csr_array(np.eye(3, dtype=np.float32)))


def test_corpus_refuses_one_string() -> None:
    with pytest.raises(DataError, match="one string"):
        Corpus("not a list")


def test_build_sorts_labels_whatever_the_order_of_texts() -> None:
    rows = [["c", "a"], [], ["b", "b"]]
    forward = Dataset.build(["x", "y", "z"], rows)
    backward = Dataset.build(["z", "y", "x"], rows[::-1])
    assert forward.space.names == backward.space.names == ("a", "b", "c")
    assert forward.labels[::-1].toarray().tolist() == backward.labels.toarray().tolist()
    assert forward.frequency.tolist() == [1, 1, 1]
    assert forward.unlabelled == 1


def test_build_with_a_space_puts_unseen_labels_behind_it() -> None:
    dataset = Dataset.build(["x", "y"], [["new", "b"], ["else", "a"]], space=LabelSpace(["b", "a"]))
    assert dataset.space.names == ("b", "a", "else", "new")
    assert dataset.labels.toarray().tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]


def test_build_mixes_rows_with_and_without_labels_and_weights() -> None:
    dataset = Dataset.build(["x", "y"], [["a"], ["a", "b"]], weights=[[2.0], [0.5, 1.0]])
    assert dataset.labels.toarray().tolist() == [[2, 0], [0.5, 1]]


def test_build_refuses_rows_of_another_count() -> None:
    with pytest.raises(DataError, match="2 texts but 1 rows of labels"):
        Dataset.build(["x", "y"], [["a"]])


def test_dataset_refuses_a_matrix_of_another_shape() -> None:
    with pytest.raises(DataError, match=r"\(1, 2\), expected \(texts, labels\) = \(1, 1\)"):
        Dataset(Corpus(["x"]), csr_array(np.ones((1, 2), np.float32)), LabelSpace(["a"]))


def test_take_by_ids_and_by_mask() -> None:
    dataset = Dataset.build(["x", "y", "z"], [["a"], ["b"], ["c"]])
    assert dataset.take([2, 0]).corpus.texts == ["z", "x"]
    masked = dataset.take(np.array([True, False, True]))
    assert masked.corpus.texts == ["x", "z"]
    assert masked.labels.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(DataError, match="mask of length 2 for 3 rows"):
        dataset.take(np.array([True, False]))


def test_digests_stand_for_texts_or_features() -> None:
    words = csr_array(np.array([[1, 0], [1, 0], [0, 1]], np.float32))
    by_text = Corpus(["a", "b", "A "], words).digests
    by_feature = Corpus([], words).digests
    assert by_text[0] == by_text[2] != by_text[1]
    assert by_feature[0] == by_feature[1] != by_feature[2]


def test_rows_take_names_only() -> None:
    rows = LabelRows()
    for wrong, message in (([1], r"the label 1 \(int\) is not a string"), ([["a"]], "not a list of names")):
        with pytest.raises(DataError, match=message):
            rows.add(wrong)  # type: ignore[arg-type]
    assert Dataset.build(["a", "b"], [[1], None]).space.names == ("1",)


def test_the_numbers_of_labels() -> None:
    space = LabelSpace(["red", "green", "blue"])
    assert space.numbers(["blue", "red", "blue"]).tolist() == [0, 2]
    with pytest.raises(DataError, match=r"no label 'gren' among the 3 labels; did you mean 'green'\?"):
        space.numbers(["gren"])


def test_labels_are_found_by_their_texts_where_these_are_their_own() -> None:
    space = LabelSpace(["495", "496", "497"], ["river", "hill", "hill"])
    assert space.numbers(["river", "496"]).tolist() == [0, 1]
    with pytest.raises(DataError, match="2 labels have the text 'hill': 496, 497; give the name of one"):
        space.numbers(["hill"])
    with pytest.raises(DataError, match="did you mean 'river'"):
        space.numbers(["rivr"])

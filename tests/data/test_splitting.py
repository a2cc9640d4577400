from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from treetop.data import Corpus, Dataset, LabelSpace, split_by_ratio
from treetop.errors import ConfigError, DataError


def numbered(texts: list[str]) -> Dataset:
    return Dataset.build(texts, [[str(row)] for row in range(len(texts))])


def test_the_parts_are_the_whole_in_order() -> None:
    dataset = numbered([f"text {row}" for row in range(1000)])
    first, second = split_by_ratio(dataset, 0.8, seed=3)
    assert (len(first), len(second)) == (800, 200)
    assert sorted([*first.corpus.texts, *second.corpus.texts]) == sorted(dataset.corpus.texts)
    assert first.corpus.texts == sorted(first.corpus.texts, key=lambda text: int(text.split()[1]))
    assert first.space is second.space is dataset.space
    assert [dataset.space.names[label] for label in first.labels.indices] == [t.split()[1] for t in first.corpus.texts]


def test_the_same_seed_gives_the_same_parts_whatever_the_order() -> None:
    texts = [f"text {row}" for row in range(300)]
    forward = split_by_ratio(numbered(texts), 0.5, seed=1)[0].corpus.texts
    backward = split_by_ratio(numbered(texts[::-1]), 0.5, seed=1)[0].corpus.texts
    other = split_by_ratio(numbered(texts), 0.5, seed=2)[0].corpus.texts
    assert set(forward) == set(backward) != set(other)


def test_equal_texts_stay_together() -> None:
    texts = [f"{'  ' * (row % 2)}Text {row // 4}".upper() if row % 3 else f"text {row // 4}" for row in range(400)]
    first, second = split_by_ratio(numbered(texts), 0.7, seed=0)
    normal = [{" ".join(text.lower().split()) for text in part.corpus.texts} for part in (first, second)]
    assert not normal[0] & normal[1]
    assert abs(len(first) - 280) <= 4


def test_rows_of_equal_features_stay_together() -> None:
    features = csr_array(np.repeat(np.eye(20, dtype=np.float32), 2, axis=0))
    labels = csr_array(np.ones((40, 1), np.float32))
    first, second = split_by_ratio(Dataset(Corpus([], features), labels, LabelSpace(["a"])), 0.5, seed=0)
    assert first.corpus.features is not None
    assert second.corpus.features is not None
    assert not set(first.corpus.features.indices) & set(second.corpus.features.indices)
    assert len(first) == len(second) == 20


def test_neither_part_is_empty() -> None:
    for ratio in (0.001, 0.999):
        assert {len(part) for part in split_by_ratio(numbered(["a", "b"]), ratio)} == {1}


@pytest.mark.parametrize("ratio", [0.0, 1.0, -1.0, 80.0, float("nan")])
def test_impossible_ratios(ratio: float) -> None:
    with pytest.raises(ConfigError, match="give the share of the first part"):
        split_by_ratio(numbered(["a", "b"]), ratio)


def test_texts_that_are_all_equal() -> None:
    with pytest.raises(DataError, match="the 2 texts are all equal"):
        split_by_ratio(numbered(["a", "A "]), 0.5)

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from treetop.data import Corpus, Dataset, LabelSpace, split_by_group, split_by_ratio, split_by_time
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
    names = [dataset.space.names[label] for label in first.labels.indices.tolist()]
    assert names == [t.split()[1] for t in first.corpus.texts]


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


@pytest.mark.parametrize("ratio", [0.0, 1.0, -1.0, 80.0, float("nan"), [0.9, 0.1], "0.9"])
def test_impossible_ratios(ratio: Any) -> None:
    with pytest.raises(ConfigError, match="give the share of the first part"):
        split_by_ratio(numbered(["a", "b"]), ratio)


def test_texts_that_are_all_equal() -> None:
    with pytest.raises(DataError, match="the 2 texts are all equal"):
        split_by_ratio(numbered(["a", "A "]), 0.5)


def test_a_split_is_the_same_for_ever() -> None:
    """Recorded figures rest on it."""
    first, _ = split_by_ratio(numbered([f"Text  number {row}" for row in range(40)]), 0.2, seed=7)
    assert [int(text.split()[-1]) for text in first.corpus.texts] == [3, 4, 10, 11, 19, 21, 24, 37]


def test_what_a_model_takes_for_the_same_text_stays_together() -> None:
    texts = [f"{'wordplay' if row % 2 else 'word play'} {row // 2}" for row in range(200)]
    first, second = split_by_ratio(numbered(texts), 0.5)
    assert not set(first.corpus.digests) & set(second.corpus.digests)


def test_groups_stay_together_and_so_do_groups_that_share_a_text() -> None:
    groups = [f"author {row // 5}" for row in range(500)]
    texts = [f"text {row}" for row in range(500)]
    texts[495] = texts[0].upper()  # of the last author, and of the first
    first, second = split_by_group(numbered(texts), groups, 0.7, seed=4)
    assert abs(len(first) - 350) <= 10
    authors = [{int(label) // 5 for label in part.labels.indices} for part in parts_by_number(first, second)]
    assert not authors[0] & authors[1]
    assert any({0, 99} <= side for side in authors)
    again = split_by_group(numbered(texts), groups, 0.7, seed=4)[0]
    assert again.corpus.texts == first.corpus.texts
    with pytest.raises(DataError, match="3 groups for 500 texts"):
        split_by_group(numbered(texts), groups[:3], 0.7)
    with pytest.raises(DataError, match="all belong together"):
        split_by_group(numbered(texts), ["one"] * 500, 0.7)


def parts_by_number(*parts: Dataset) -> list[Dataset]:
    """The same parts with columns in the order of the numbers that their labels are."""
    order = [str(number) for number in range(len(parts[0].space))]
    names = [[[part.space.names[label] for label in part.labels[[row]].indices.tolist()] for row in range(len(part))]
             for part in parts]  # fmt: skip
    return [Dataset.build(p.corpus.texts, rows, space=LabelSpace(order)) for p, rows in zip(parts, names, strict=True)]


DATES = ["2020-02-01", "2020-01-31T23:00:00Z", date(2020, 1, 1), "2020-03-01", "2020-03-01"]


@pytest.mark.parametrize("times", [[2020, 2019, "2018.5", 2021, 2021], DATES])
def test_the_later_texts_are_for_testing_and_copies_of_earlier_ones_in_neither_part(times: list[Any]) -> None:
    first, second = split_by_time(numbered(["a", "b", "c", "d", "A"]), times, 0.6)
    assert (first.corpus.texts, second.corpus.texts) == (["a", "b", "c"], ["d"])


def test_times_that_cannot_be_ordered() -> None:
    with pytest.raises(DataError, match=r"the time of row 1 is 'last May'; give numbers everywhere, or dates as"):
        split_by_time(numbered(["a", "b"]), ["2020-01-01", "last May"], 0.5)
    with pytest.raises(DataError, match="the time of row 1 is missing"):
        split_by_time(numbered(["a", "b"]), [1.0, float("nan")], 0.5)
    with pytest.raises(DataError, match="all of one moment"):
        split_by_time(numbered(["a", "b"]), [5, 5], 0.5)
    with pytest.raises(DataError, match="every later text is a copy"):
        split_by_time(numbered(["a", "A"]), [1, 2], 0.5)

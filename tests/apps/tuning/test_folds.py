"""Which texts settings are judged on."""

from __future__ import annotations

import pytest

from treetop.apps.tuning.folds import MOST, fold_off
from treetop.data import Dataset
from treetop.errors import DataError


def test_texts_are_held_out_and_none_is_on_both_sides(toy_train: Dataset) -> None:
    folds = fold_off(toy_train, None, 0)
    assert len(folds) == 4
    for learned, held_out in folds:
        assert len(learned) + len(held_out) == len(toy_train)
        assert 60 < len(held_out) < 100
        assert not set(learned.corpus.texts) & set(held_out.corpus.texts)
    texts = [text for fold in folds for text in fold.held_out.corpus.texts]
    assert len(texts) == len(set(texts)), "a text is held out twice"
    again = fold_off(toy_train, None, 0)
    assert [fold.held_out.corpus.texts for fold in again] == [fold.held_out.corpus.texts for fold in folds]
    assert set(fold_off(toy_train, None, 1)[0].held_out.corpus.texts) != set(folds[0].held_out.corpus.texts)


def test_copies_of_a_text_are_held_out_together() -> None:
    whole = Dataset.build([f"word{n % 300} again" for n in range(600)], [["a"]] * 600)
    for learned, held_out in fold_off(whole, None, 0):
        assert not set(learned.corpus.texts) & set(held_out.corpus.texts)


@pytest.mark.parametrize(("texts", "folds", "judged"), [(1_000, 4, 800), (15_000, 3, 4_500), (60_000, 1, MOST)])
def test_the_fewer_texts_the_more_of_them_are_judged(texts: int, folds: int, judged: int) -> None:
    found = fold_off(Dataset.build([f"word{n}" for n in range(texts)], [["a"]] * texts), None, 0)
    assert len(found) == folds
    assert sum(len(fold.held_out) for fold in found) == pytest.approx(judged, rel=0.02)


def test_dev_texts_are_used_if_there_are_any(toy_train: Dataset, toy_test: Dataset) -> None:
    ((learned, held_out),) = fold_off(toy_train, lambda: toy_test, 0)
    assert learned is toy_train
    assert sorted(held_out.corpus.texts) == sorted(toy_test.corpus.texts)
    empty = Dataset(toy_test.corpus, toy_test.labels * 0, toy_test.space)
    empty.labels.eliminate_zeros()
    with pytest.raises(DataError, match="no held-out text has a label"):
        fold_off(toy_train, lambda: empty, 0)

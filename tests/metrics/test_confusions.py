"""What labels are taken for."""

from __future__ import annotations

import numpy as np

from treetop.metrics.confusions import confusions
from treetop.metrics.ranking import judge
from treetop.predictions import Predictions
from treetop.sparse import canonical
from treetop.types import CSR


def true_labels(*rows: list[int], width: int = 6) -> CSR:
    dense = np.zeros((len(rows), width), np.float32)
    for row, labels in enumerate(rows):
        dense[row, labels] = 1
    return canonical(dense)


def ranked(*rows: list[int]) -> Predictions:
    labels = np.array(rows, np.int32)
    return Predictions(labels, np.tile(np.linspace(1, 0.1, labels.shape[1], dtype=np.float32), (len(rows), 1)))


def test_wrong_labels_stand_in_the_place_of_missed_ones() -> None:
    true = true_labels([0], [0], [0], [1, 2])
    found = confusions(judge(ranked([3, 0, 5], [3, 1, 0], [4, 0, 1], [2, 5, 1]), true, 3))
    assert found.labels[0].tolist() == [3, 4, -1]  # twice for 3, once for 4; what stands below counts for nothing
    assert found.scores[0].tolist() == [2, 1, 0]
    assert found.labels[1].tolist() == [5, -1, -1]  # 1 was found, but below the two places that its text has
    assert (found.labels[2:] == -1).all()  # 2 was found, the others are true nowhere
    assert len(found) == 6


def test_several_wrong_labels_share_a_place() -> None:
    found = confusions(judge(ranked([3, 4, 0]), true_labels([0, 1]), 3), most=1)
    assert found.labels[:2].tolist() == [[3], [3]]
    assert found.scores[:2].tolist() == [[0.5], [0.5]]


def test_lists_that_end_early_and_texts_without_labels() -> None:
    found = confusions(judge(ranked([-1, -1], [3, -1]), true_labels([0], []), 2))
    assert (found.labels == -1).all()


def test_labels_that_only_predictions_know_widen_the_matrix() -> None:
    found = confusions(judge(ranked([9]), true_labels([0]), 1))
    assert (len(found), found.labels[0, 0]) == (10, 9)

from __future__ import annotations

import numpy as np

from treetop.calibration.bands import EDGES, band_of, edges_with_enough

FREQUENCY = np.array([0, 1, 5, 20, 50, 200, 1000])  # a label in each band


def suggested(counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """So many right and as many wrong suggestions of each label."""
    labels = np.repeat(np.arange(7, dtype=np.int32), 2 * np.array(counts))
    return labels, np.arange(len(labels)) % 2 == 0


def test_each_band_has_its_labels() -> None:
    assert band_of(FREQUENCY, np.array(EDGES)).tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert band_of(np.array([0, 3, 4, 10, 11]), np.array(EDGES)).tolist() == [0, 1, 2, 2, 3]


def test_seven_bands_where_each_has_enough() -> None:
    assert edges_with_enough(*suggested([30] * 7), FREQUENCY).tolist() == list(EDGES)


def test_scarce_bands_join_the_next() -> None:
    assert edges_with_enough(*suggested([0, 5, 30, 30, 5, 5, 30]), FREQUENCY).tolist() == [10, 30]
    assert edges_with_enough(*suggested([0, 30, 30, 30, 30, 30, 5]), FREQUENCY).tolist() == [3, 10, 30, 100]
    assert edges_with_enough(*suggested([1] * 7), FREQUENCY).tolist() == []


def test_labels_never_seen_in_training_have_a_band_of_their_own() -> None:
    """They are found by their names, whose scores mean something else."""
    assert edges_with_enough(*suggested([30, 30, 0, 0, 0, 0, 30]), FREQUENCY).tolist() == [0, 3]


def test_what_is_always_wrong_is_not_enough() -> None:
    labels, _ = suggested([30] * 7)
    assert edges_with_enough(labels, np.zeros(len(labels), bool), FREQUENCY).tolist() == []

"""What peers predicted, in whatever form, becomes the same arrays."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from benchmarks.peers.protocol import Stages, from_csr, from_lists, from_scores

SCORES = np.array([[0.1, 0.0, 0.9, 0.5], [0.0, 0.0, 0.2, 0.0]], np.float32)


def test_sparse_scores_are_ranked_within_rows() -> None:
    labels, values = from_csr(sp.csr_matrix(SCORES))
    assert labels.tolist() == [[2, 3, 0], [2, -1, -1]]
    np.testing.assert_allclose(values, [[0.9, 0.5, 0.1], [0.2, 0, 0]], rtol=1e-6)


def test_equal_scores_keep_the_order_of_the_peer() -> None:
    tied = sp.csr_matrix((np.ones(3, np.float32), np.array([7, 2, 5]), np.array([0, 3])), shape=(1, 9))
    assert from_csr(tied)[0].tolist() == [[7, 2, 5]]


def test_lists_of_pairs_are_padded() -> None:
    labels, values = from_lists([[(4, 0.5), (1, 0.25)], []])
    assert labels.tolist() == [[4, 1], [-1, -1]]
    assert values.tolist() == [[0.5, 0.25], [0, 0]]


def test_dense_scores_are_cut_to_the_best() -> None:
    labels, values = from_scores(SCORES, 2)
    assert labels[0].tolist() == [2, 3]
    assert labels[1][0] == 2
    assert (np.diff(values, axis=1) <= 0).all()


def test_stages_measure_time_and_memory() -> None:
    stages = Stages()
    before = time.process_time()
    with stages("sleep"):
        time.sleep(0.05)
    spent = time.process_time() - before
    with stages("fill"):
        np.ones(30_000_000).sum()
    sleep, fill = stages.measured["sleep"], stages.measured["fill"]
    assert sleep["wall"] >= 0.05
    assert sleep["cpu"] <= spent + 0.02  # the clock ticks in hundredths
    assert fill["cpu"] > 0
    assert fill["peak_rss_mib"] > sleep["peak_rss_mib"] + 200

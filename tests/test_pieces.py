from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from elsewhere import Elsewhere
from treetop.pieces import Arrays, Piece, runs_of
from treetop.progress import Progress
from treetop.runtime import Runtime


def test_runs_cover_everything_in_order() -> None:
    starts = np.array([0, 5, 5, 30, 31, 40], np.int64)
    assert runs_of(starts, 10) == [(0, 2), (2, 3), (3, 5)]
    assert runs_of(starts, 1000) == [(0, 5)]
    assert runs_of(np.array([0, 0], np.int64), 4) == [(0, 1)]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(1, 50))
def test_runs_are_as_small_as_asked_unless_one_thing_is_larger(sizes: list[int], size: int) -> None:
    starts = np.append(0, np.cumsum(sizes))
    runs = runs_of(starts, size)
    assert [first for first, _ in runs] == [0, *(last for _, last in runs[:-1])]
    assert runs[-1][1] == len(sizes)
    assert all(last == first + 1 or starts[last] - starts[first] <= size for first, last in runs)


class Squares:
    """A task."""

    def __call__(self, item: int, threads: int, advance: object) -> Arrays:
        return {"square": np.array([item * item])}


@pytest.mark.parametrize("workers", [None, Elsewhere()], ids=["here", "elsewhere"])
def test_results_come_in_order_whoever_made_them(workers: Elsewhere | None) -> None:
    pieces = [Piece(item, cost=-(item % 3)) for item in range(10)]
    results = Runtime(workers=workers, progress=Progress()).map("square", Squares(), pieces)
    assert [int(result["square"][0]) for result in results] == [item * item for item in range(10)]

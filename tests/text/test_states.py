from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treetop.errors import StoreError
from treetop.text.states import FrozenStates, ranges


def test_states_come_back_by_text() -> None:
    rng = np.random.default_rng(0)
    lengths = np.array([2, 1, 3])
    states = FrozenStates(lengths, 4)
    padded, mask = rng.normal(size=(3, 3, 4)).astype(np.float32), np.arange(3) < lengths[[2, 0, 1], None]
    states.put(np.array([2, 0, 1]), mask, padded)
    order, again = np.array([1, 2]), np.array([[0, 0, 1], [1, 1, 1]])  # the first one padded on the left
    found = states.pad(order, again)
    np.testing.assert_allclose(found[0], np.vstack([np.zeros((2, 4)), padded[2, :1]]), atol=1e-3)
    np.testing.assert_allclose(found[1], padded[0], atol=1e-3)


def test_no_room(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"keep_frozen=false"):
        FrozenStates(np.array([2**50]), 384, tmp_path)
    assert not list(tmp_path.iterdir())


def test_ranges() -> None:
    assert ranges(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    assert ranges(np.array([], int), np.array([], int)).tolist() == []

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from treetop.errors import StoreError
from treetop.text.states import FrozenStates, forget_states, ranges


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


def test_named_states_are_found_again_once_all_are_there(tmp_path: Path) -> None:
    lengths, mask = np.array([2, 1]), np.array([[1, 1], [1, 0]])
    values = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    first = FrozenStates(lengths, 3, tmp_path, "abc")
    first.put(np.array([0, 1]), mask, values)
    del first  # as if killed: not all may be there
    second = FrozenStates(lengths, 3, tmp_path, "abc")
    assert not second.complete
    assert not second.values.any()
    second.put(np.array([0, 1]), mask, values)
    second.finish()
    third = FrozenStates(lengths, 3, tmp_path, "abc")
    assert third.complete
    np.testing.assert_array_equal(third.pad(np.array([1, 0]), mask[::-1]), values[::-1] * mask[::-1, :, None])
    assert not FrozenStates(lengths, 3, tmp_path, "abd").complete
    assert not FrozenStates(lengths + 1, 3, tmp_path, "abc").complete
    forget_states(tmp_path)
    assert not list(tmp_path.iterdir())


def test_ranges() -> None:
    assert ranges(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    assert ranges(np.array([], int), np.array([], int)).tolist() == []

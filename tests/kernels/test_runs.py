from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from random_levels import Weights, assert_same_bits, csr, narrowed, random_csr, split
from treetop import kernels
from treetop.errors import DataError
from treetop.store import Folder


def packed(first: int, last: int, dims: int) -> kernels.Packed:
    """Some parents of a level of nine."""
    rng = np.random.default_rng(12)
    sparse, dense = random_csr(rng, 70, 30, 0.2), rng.normal(size=(70, dims)).astype(np.float32)
    starts, nodes = split(rng, 70, 9), rng.permutation(70).astype(np.int32)
    low, high = starts[first], starts[last]
    part = Weights(sparse[low:high], dense[low:high] if dims else None, np.arange(low, high, dtype=np.float32))
    return kernels.pack(part, starts[first : last + 1] - low, nodes[low:high])


@given(st.sets(st.integers(1, 8)), st.sampled_from([0, 1, 3000, 10**6]), st.sampled_from([0, 3]))
def test_a_level_is_the_same_however_it_came(cuts: set[int], most: int, dims: int) -> None:
    runs = kernels.Runs(most=most)
    bounds = [0, *sorted(cuts), 9]
    for first, last in itertools.pairwise(bounds):
        runs.add(packed(first, last, dims))
    whole, joined = narrowed(packed(0, 9, dims)), runs.finish()
    assert joined.keys() == whole.keys()
    assert_same_bits([joined[name] for name in whole], whole.values())


def test_a_level_in_a_file_is_stored_like_any_other(tmp_path: Path) -> None:
    runs = kernels.Runs(tmp_path, most=0)
    runs.add(packed(0, 4, 3))
    runs.add(packed(4, 9, 3))
    level = runs.finish()
    assert isinstance(level["entry_value"].base, np.memmap)
    assert not list(tmp_path.iterdir())  # the file has no name
    with Folder.create(tmp_path / "m") as folder:
        folder.write_tensors("level.safetensors", level)
    again = Folder.open(tmp_path / "m").read_tensors("level.safetensors")
    whole = narrowed(packed(0, 9, 3))
    assert_same_bits([again[name] for name in level], [whole[name] for name in level])


@pytest.mark.parametrize("most", [0, 1 << 30])
def test_a_wider_run_makes_all_wide(most: int) -> None:
    many = Weights(csr(np.ones((65_536, 1))), None, np.ones(65_536, np.float32))
    runs = kernels.Runs(most=most)
    runs.add(kernels.pack(Weights(csr([[1.0]]), None, np.ones(1, np.float32)), np.array([0, 1]), np.array([0])))
    runs.add(kernels.pack(many, np.array([0, 65_536]), np.arange(65_536, dtype=np.int32)))
    joined = runs.finish()
    assert joined["entry_child"].dtype == np.uint32
    assert joined["entry_child"].tolist() == [0, *range(65_536)]


def test_runs_of_different_features_are_no_level() -> None:
    runs = kernels.Runs()
    runs.add(packed(0, 4, 0))
    with pytest.raises(DataError, match="differ in width"):
        runs.add(packed(4, 9, 3))

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from treetop import kernels
from treetop.errors import DataError, StoreError
from treetop.kernels.packed_checks import check_level, check_levels, damage
from treetop.types import CSR, Dense, Floats


@dataclass
class Weights:
    sparse: CSR | None
    dense: Dense | None
    bias: Floats


def level(parents: int, nodes: int, dims: int = 0) -> kernels.Packed:
    rng = np.random.default_rng(nodes)
    sparse = CSR(rng.normal(size=(nodes, 5)).astype(np.float32))
    dense = rng.normal(size=(nodes, dims)).astype(np.float32) if dims else None
    starts = np.linspace(0, nodes, parents + 1).astype(np.int64)
    return kernels.pack(
        Weights(sparse, dense, np.zeros(nodes, np.float32)), starts, rng.permutation(nodes).astype(np.int32)
    )


def test_what_pack_makes_is_accepted() -> None:
    check_levels([level(1, 3), level(3, 9), level(9, 20)])
    check_levels([level(1, 4, dims=3)])


def test_arrays_that_do_not_belong_together_are_refused() -> None:
    top, leaf = level(1, 3), level(3, 9, dims=2) | {"width": np.array([5, 0])}
    del leaf["dense"]
    check_levels([top, leaf])
    broken = [
        ({"row_ptr": leaf["row_ptr"][:-1]}, "row_ptr"),
        ({"entry_value": leaf["entry_value"][:-1]}, "entry_value"),
        ({"bias": leaf["bias"].astype(np.float64)}, "bias"),
        ({"bias": np.zeros(18, np.float32)[::2]}, "bias"),
        ({"bias": np.zeros(37, np.uint8)[1:].view(np.float32)}, "bias"),
        ({"width": np.array([-5, 0])}, "width"),
        ({"width": np.array([5, 2**40])}, "width"),
        ({"width": np.array([5, 2])}, "dense"),
        ({"width": np.array([5, 2]), "dense": np.zeros(18, np.float16)}, "float16"),
        ({"width": np.array([6, 0])}, "width"),
        ({"children": leaf["children"] - 1}, "node"),
        ({"children": np.zeros_like(leaf["children"])}, "node 0 under two parents"),
        ({"children": np.full_like(leaf["children"], 2**31 - 1)}, "two parents"),
        ({"children_ptr": leaf["children_ptr"][::-1].copy()}, "children_ptr"),
    ]
    for change, message in broken:
        with pytest.raises(DataError, match=message):
            kernels.Searcher([top, leaf | change])
        with pytest.raises(StoreError, match=f"^leaf.*{message}"):
            kernels.Searcher([top, leaf | change], files=[Path("top"), Path("leaf")])


def test_missing_arrays_and_levels_are_named() -> None:
    top = level(1, 3)
    for name in top:
        with pytest.raises(DataError, match=f"'{name}'"):
            check_level({other: array for other, array in top.items() if other != name})
    with pytest.raises(DataError, match="root"):
        check_levels([level(3, 9)])
    with pytest.raises(DataError, match="parents"):
        check_levels([top, top])
    with pytest.raises(DataError, match="at least one"):
        check_levels([])


def test_damage_names_the_file_if_there_is_one() -> None:
    error = ValueError("1: entry_child is too large: 9")
    assert str(damage(error, None)) == "level 1: entry_child is too large: 9"
    found = damage(error, [Path("a"), Path("b")])
    assert isinstance(found, StoreError)
    assert str(found).startswith("b: the file is damaged (level 1: entry_child")

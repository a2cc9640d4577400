from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from random_levels import Weights, assert_same_bits, csr, random_csr, split
from treetop import kernels
from treetop.errors import DataError
from treetop.kernels.reference import search as oracle


@pytest.mark.parametrize("kind", ["float32", "float16", "int8"])
@pytest.mark.parametrize("dims", [0, 4])
def test_pack_equals_the_reference(kind: Any, dims: int) -> None:
    rng = np.random.default_rng(10)
    weights = Weights(
        random_csr(rng, 90, 50, 0.15),
        rng.normal(size=(90, dims)).astype(np.float32) if dims else None,
        rng.normal(size=90).astype(np.float32),
    )
    starts, nodes = split(rng, 90, 12), rng.permutation(90).astype(np.int32)
    expected = oracle.pack(weights, starts, nodes, kind=kind)
    for threads in (1, 3):
        packed = kernels.pack(weights, starts, nodes, kind=kind, threads=threads)
        assert packed.keys() == expected.keys()
        assert_same_bits(packed.values(), [expected[name] for name in packed])


@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize(("columns", "dims"), [(40, 0), (0, 5), (40, 5)])
def test_what_was_packed_can_be_read_back(columns: int, dims: int, kind: kernels.WeightType) -> None:
    rng = np.random.default_rng(13)
    sparse = random_csr(rng, 90, columns, 0.4) if columns else None  # rows of every width, some stored in full
    dense = rng.normal(size=(90, dims)).astype(np.float32) if dims else None
    starts = split(rng, 90, 12)
    weights = Weights(sparse, dense, np.arange(90, dtype=np.float32))
    packed = kernels.pack(weights, starts, np.arange(90, dtype=np.int32), kind=kind)
    for first, last in ((0, 12), (0, 1), (3, 4), (5, 9), (11, 12)):
        found, rows = kernels.unpack(packed, first, last), slice(starts[first], starts[last])
        np.testing.assert_array_equal(found.bias, np.arange(90)[rows])
        if sparse is not None:
            expected = sparse[rows]
            np.testing.assert_array_equal(found.sparse.indptr, expected.indptr)
            np.testing.assert_array_equal(found.sparse.indices, expected.indices)
            np.testing.assert_array_equal(found.sparse.data, expected.data.astype(kind))
        assert (found.dense is None) == (dense is None)
        if found.dense is not None and dense is not None:
            np.testing.assert_array_equal(found.dense, dense[rows].astype(kind))


def test_half_rounds_as_numpy_does() -> None:
    values = np.concatenate(
        [
            np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32),
            np.random.default_rng(11).normal(size=5000).astype(np.float32) * np.logspace(-9, 3, 5000, dtype=np.float32),
            np.array([65504, -65504, 6e-8, 2.9e-8, 3e-8, 1e-30], np.float32),
        ]
    )
    values = np.concatenate([values, -values, values * np.float32(1.0004)])
    values = values[np.abs(values) <= 65504]
    sparse = csr(np.ones((1, len(values))))
    sparse.data[:] = values
    weights = Weights(sparse, None, np.zeros(1, np.float32))
    packed = kernels.pack(weights, np.array([0, 1]), np.array([0]), kind="float16")
    np.testing.assert_array_equal(packed["entry_value"].view(np.uint16), values.astype(np.float16).view(np.uint16))


def test_weights_that_cannot_be_stored_are_refused() -> None:
    starts, nodes = np.array([0, 1]), np.array([0])
    good = np.ones(1, np.float32)
    with pytest.raises(DataError, match="not a number"):
        kernels.pack(Weights(csr([[np.nan]]), None, good), starts, nodes)
    with pytest.raises(DataError, match="float16"):
        kernels.pack(Weights(csr([[1e6]]), None, good), starts, nodes, kind="float16")
    with pytest.raises(DataError, match="2 rows"):
        kernels.pack(Weights(csr([[1.0], [2.0]]), None, good), starts, nodes)
    with pytest.raises(DataError, match="no weights"):
        kernels.pack(Weights(None, None, good), starts, nodes)
    with pytest.raises(DataError, match="children_ptr"):
        kernels.pack(Weights(csr([[1.0]]), None, good), np.array([0, 2]), nodes)


@pytest.mark.parametrize("kind", ["float32", "float16", "int8"])
def test_the_weights_of_one_child_are_those_of_all(kind: kernels.WeightType) -> None:
    rng = np.random.default_rng(17)
    sparse, dense = random_csr(rng, 60, 40, 0.4), rng.normal(size=(60, 3)).astype(np.float32)
    starts = split(rng, 60, 7)
    packed = kernels.pack(
        Weights(sparse, dense, np.zeros(60, np.float32)), starts, np.arange(60, dtype=np.int32), kind=kind
    )
    asked = np.array([0, 3, 4, 11, 39, 45], np.int32)  # the last one is beyond all features
    for parent, (first, last) in enumerate(itertools.pairwise(starts.tolist())):
        every = kernels.unpack(packed, parent, parent + 1)
        for place in range(last - first):
            found, of_dense = kernels.weights_of_child(packed, parent, place, asked)
            wanted = every.sparse[[place]].toarray()[0]
            np.testing.assert_array_equal(found, [*wanted[asked[:-1]], 0])
            assert every.dense is not None
            np.testing.assert_array_equal(of_dense, every.dense[place])

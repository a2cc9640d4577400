"""Random sparse matrices and levels of a tree, for the kernels' tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from treetop import kernels
from treetop.kernels import Packed
from treetop.kernels.reference import search as oracle
from treetop.types import CSR, Dense, Floats, Ids


@dataclass
class Weights:
    sparse: CSR | None
    dense: Dense | None
    bias: Floats


def csr(matrix: Any) -> CSR:
    made = sp.csr_array(matrix, dtype=np.float32)
    made.sort_indices()
    return CSR((made.data, made.indices.astype(np.int32), made.indptr.astype(np.int64)), shape=made.shape)


def random_csr(rng: np.random.Generator, rows: int, columns: int, density: float) -> CSR:
    mask = rng.random((rows, columns)) < density
    return csr(np.where(mask, rng.normal(size=(rows, columns)), 0))


def split(rng: np.random.Generator, nodes: int, parents: int) -> NDArray[np.int64]:
    """Uneven runs of children; some parents have none."""
    cuts = np.sort(rng.integers(0, nodes + 1, parents - 1))
    return np.concatenate([[0], cuts, [nodes]]).astype(np.int64)


def assert_same_bits(a: Iterable[NDArray[Any]], b: Iterable[NDArray[Any]]) -> None:
    for left, right in zip(a, b, strict=True):
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert left.tobytes() == right.tobytes()


def random_level(
    rng: np.random.Generator,
    parents: int,
    nodes: int,
    features: int,
    dims: int = 0,
    *,
    kind: kernels.WeightType = "float32",
    density: float = 0.2,
    values: list[float] | None = None,
) -> Packed:
    starts = np.array([0, nodes], np.int64) if parents == 1 else split(rng, nodes, parents)
    weights = Weights(
        random_csr(rng, nodes, features, density) if features else None,
        rng.normal(size=(nodes, dims)).astype(np.float32) if dims else None,
        rng.normal(size=nodes).astype(np.float32) - 1,
    )
    if values is not None and weights.sparse is not None:  # few distinct weights: many ties
        weights.sparse.data[:] = rng.choice(values, weights.sparse.nnz)
        weights.bias[:] = rng.choice(values, nodes)
    return kernels.pack(weights, starts, rng.permutation(nodes).astype(np.int32), kind=kind)


def random_tree(
    rng: np.random.Generator, widths: tuple[int, ...], features: int, dims: int = 0, **options: Any
) -> list[Packed]:
    return [random_level(rng, p, n, features, dims, **options) for p, n in itertools.pairwise((1, *widths))]


def random_texts(
    rng: np.random.Generator, texts: int, features: int, dims: int = 0, density: float = 0.3
) -> tuple[Any, Any]:
    sparse = random_csr(rng, texts, features, density) if features else None
    dense = rng.normal(size=(texts, dims)).astype(np.float32) if dims else None
    return sparse, dense


def one_by_one(
    searcher: kernels.Searcher, sparse: CSR | None, dense: Dense | None, **options: Any
) -> tuple[Ids, Floats]:
    """`search` of each text alone."""
    results = []
    given = sparse if dense is None else dense
    assert given is not None
    for i in range(given.shape[0]):
        cut = slice(0, 0) if sparse is None else slice(sparse.indptr[i], sparse.indptr[i + 1])
        indices = np.empty(0, np.int32) if sparse is None else sparse.indices[cut]
        values = np.empty(0, np.float32) if sparse is None else sparse.data[cut]
        results.append(searcher.search_one(indices, values, None if dense is None else dense[i], **options))
    return np.array([labels for labels, _ in results]), np.array([scores for _, scores in results])


def narrowed(level: Packed) -> Packed:
    """A level as it is stored, in one run."""
    runs = kernels.Runs()
    runs.add(level)
    return runs.finish()


def assert_agrees(levels: list[Packed], sparse: CSR | None, dense: Dense | None, **options: Any) -> tuple[Ids, Floats]:
    """Reference, batch and one at a time give the same labels; the latter two the same bits, however it is stored."""
    searcher = kernels.Searcher([narrowed(level) for level in levels])
    labels, scores = assert_agrees_as_given(levels, sparse, dense, **options)
    assert_same_bits(searcher.search(sparse, dense, **options), (labels, scores))
    assert_same_bits(one_by_one(searcher, sparse, dense, **options), (labels, scores))
    return labels, scores


def assert_agrees_as_given(
    levels: list[Packed], sparse: CSR | None, dense: Dense | None, **options: Any
) -> tuple[Ids, Floats]:
    """The same of levels that are searched as they are."""
    searcher = kernels.Searcher(levels)
    labels, scores = searcher.search(sparse, dense, **options)
    expected_labels, expected_scores = oracle.Searcher(levels).search(sparse, dense, **options)
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_allclose(scores, expected_scores, rtol=1e-6, atol=1e-30)
    assert_same_bits(one_by_one(searcher, sparse, dense, **options), (labels, scores))
    assert not np.isnan(scores).any()
    return labels, scores

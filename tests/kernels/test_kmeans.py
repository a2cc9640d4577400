from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from treetop import kernels
from treetop.kernels.reference import kmeans as reference
from treetop.sparse import canonical
from treetop.types import CSR, Dense


def label_features(labels: int, *, seed: int, dims: int = 0, width: int = 60) -> tuple[CSR, Dense | None]:
    """Sparse rows, some of them zero, and a dense block."""
    rng = np.random.default_rng(seed)
    sparse = (rng.random((labels, width)) < 0.15) * rng.random((labels, width))
    sparse[rng.random(labels) < 0.1] = 0
    dense = rng.standard_normal((labels, dims)).astype(np.float32) if dims else None
    return canonical(sparse), dense


CASES = [(1, 0), (2, 0), (3, 5), (7, 0), (64, 0), (65, 3), (300, 0), (300, 9), (2500, 0), (4200, 2)]


@pytest.mark.parametrize(("labels", "dims"), CASES)
@pytest.mark.parametrize("spherical", [True, False])
@pytest.mark.parametrize("tolerance", [0.0, 0.003])
def test_trees_equal_the_reference(labels: int, dims: int, spherical: bool, tolerance: float) -> None:
    sparse, dense = label_features(labels, seed=labels, dims=dims)
    options: dict[str, Any] = {"depth": 4, "spherical": spherical, "tolerance": tolerance, "seed": 11}
    order, bounds = kernels.kmeans_tree(sparse, dense, **options, threads=2)
    expected_order, expected_bounds = reference.kmeans_tree(sparse, dense, **options)
    np.testing.assert_array_equal(bounds, expected_bounds)
    np.testing.assert_array_equal(order, expected_order)


@pytest.mark.parametrize(("labels", "dims"), CASES)
@pytest.mark.parametrize("spherical", [True, False])
@pytest.mark.parametrize("ways", [2, 5, 33])
def test_splits_equal_the_reference(labels: int, dims: int, spherical: bool, ways: int) -> None:
    sparse, dense = label_features(labels, seed=labels, dims=dims)
    order = np.random.default_rng(labels).permutation(labels).astype(np.int32)
    bounds = np.array([0, labels // 3, labels // 3, labels], np.int64)
    options: dict[str, Any] = {"order": order, "bounds": bounds, "ways": ways, "level": 2, "spherical": spherical}
    expected = reference.kmeans_split(sparse, dense, **options, seed=5)
    for threads in (1, 2):
        result = kernels.kmeans_split(sparse, dense, **options, seed=5, threads=threads)
        np.testing.assert_array_equal(result, expected)


def test_large_matrices_are_shared_out_without_changing_the_tree() -> None:
    """So many entries that threads split the first nodes together, in blocks, and then grow branches of their own."""
    sparse, dense = label_features(2200, seed=8, dims=3, width=600)
    assert sparse.nnz > 1 << 17
    expected = reference.kmeans_tree(sparse, dense, depth=5, seed=2)
    for threads in (1, 2, 7):
        order, bounds = kernels.kmeans_tree(sparse, dense, depth=5, seed=2, threads=threads)
        np.testing.assert_array_equal(order, expected[0])
        np.testing.assert_array_equal(bounds, expected[1])


def test_dense_alone() -> None:
    dense = np.random.default_rng(0).standard_normal((50, 7)).astype(np.float32)
    expected = reference.kmeans_tree(None, dense, depth=3)
    for mine, theirs in zip(kernels.kmeans_tree(None, dense, depth=3), expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_halves_are_halves_and_leaves_are_in_order_of_labels() -> None:
    sparse, _ = label_features(101, seed=0)
    order, bounds = kernels.kmeans_tree(sparse, None, depth=3)
    assert sorted(order.tolist()) == list(range(101))
    assert np.diff(bounds).tolist() == [12, 13, 12, 13, 12, 13, 13, 13]
    for first, last in itertools.pairwise(bounds):
        assert np.all(np.diff(order[first:last]) > 0)


@pytest.mark.parametrize("content", [0.0, 1.0])
def test_equal_labels_are_split_by_number(content: float) -> None:
    sparse = canonical(np.full((8, 3), content, np.float32))
    order, _ = kernels.kmeans_tree(sparse, None, depth=2)
    assert order.tolist() == list(range(8))
    bounds = np.array([0, 8], np.int64)
    child = kernels.kmeans_split(sparse, None, order=order, bounds=bounds, ways=3, level=0)
    assert child.tolist() == [0] * 8


def test_more_iterations_bring_labels_nearer_to_their_centres() -> None:
    sparse, _ = label_features(400, seed=3)

    def mean_cosine(max_iter: int) -> float:
        order, bounds = kernels.kmeans_tree(sparse, None, depth=4, max_iter=max_iter)
        leaves = [sparse.toarray()[order[a:b]] for a, b in itertools.pairwise(bounds)]
        return float(sum(np.linalg.norm(leaf.sum(axis=0)) for leaf in leaves)) / 400

    assert mean_cosine(1) < mean_cosine(3) < mean_cosine(20)


def test_large_nodes_keep_the_best_of_several_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight topics in two fields: from two labels of one field k-means cannot find the fields, but seldom starts so."""
    rng = np.random.default_rng(0)
    topic = rng.integers(0, 8, 8192)
    z = 0.1 * rng.random((8192, 10))
    z[np.arange(8192), topic] += 1
    z[np.arange(8192), 8 + topic // 4] += 0.3
    sparse = canonical(z)
    monkeypatch.setattr(reference, "_STARTS", 1)

    def fields_found(kmeans_tree: Any, seed: int) -> bool:
        order, bounds = kmeans_tree(sparse, None, depth=1, seed=seed)
        return bool(abs(np.mean(topic[order[: bounds[1]]] < 4) - 0.5) > 0.45)

    assert all(fields_found(kernels.kmeans_tree, seed) for seed in range(6))
    assert not all(fields_found(reference.kmeans_tree, seed) for seed in range(6))


def test_a_tree_follows_its_seed_only() -> None:
    sparse, dense = label_features(500, seed=1, dims=4)
    first, again, other = (
        kernels.kmeans_tree(sparse, dense, depth=5, seed=seed, threads=threads)[0]
        for seed, threads in ((0, 1), (0, 3), (1, 1))
    )
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from treetop import kernels
from treetop.kernels.reference.pifa import pifa as reference
from treetop.sparse import canonical
from treetop.types import CSR


def random_matrix(rows: int, columns: int, density: float, seed: int) -> CSR:
    rng = np.random.default_rng(seed)
    return canonical((rng.random((rows, columns)) < density) * rng.random((rows, columns)))


@given(
    st.integers(0, 40), st.sampled_from([1, 63, 64, 65, 5000]), st.integers(0, 90), st.integers(0, 99), st.booleans()
)
def test_equals_the_reference(texts: int, width: int, labels: int, seed: int, normalise: bool) -> None:
    features = random_matrix(texts, width, 0.1, seed)
    members = random_matrix(labels, texts, 0.2, seed + 1)
    expected = reference(features, members, normalise=normalise)
    result = kernels.pifa(features, members, normalise=normalise, threads=2)
    assert result.shape == (labels, width)
    assert result.has_sorted_indices
    np.testing.assert_allclose(result.toarray(), expected.toarray(), atol=1e-6)


@given(st.integers(1, 40), st.sampled_from([1, 64, 300]), st.integers(1, 90), st.integers(0, 99))
def test_features_are_numbered_by_frequency(texts: int, width: int, labels: int, seed: int) -> None:
    features, members = random_matrix(texts, width, 0.1, seed), random_matrix(labels, texts, 0.2, seed + 1)
    result = kernels.pifa(features, members, by_frequency=True, threads=2)
    np.testing.assert_allclose(result.toarray(), reference(features, members, by_frequency=True).toarray(), atol=1e-6)
    plain = kernels.pifa(features, members)
    np.testing.assert_array_equal(result.data, plain.data)  # within a row nothing moved
    for depth in (1, 3):
        one, other = (kernels.kmeans_tree(z, None, depth=depth, seed=seed)[0] for z in (result, plain))
        np.testing.assert_array_equal(one, other)


def test_bits_do_not_depend_on_threads() -> None:
    features, members = random_matrix(300, 700, 0.1, 0), random_matrix(500, 300, 0.05, 1)
    one, two = (kernels.pifa(features, members, threads=threads) for threads in (1, 2))
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_labels_without_texts_are_empty_rows() -> None:
    members = canonical(np.array([[0, 0], [1, 1], [0, 0]], np.float32))
    result = kernels.pifa(random_matrix(2, 5, 0.9, 0), members)
    assert np.diff(result.indptr)[[0, 2]].tolist() == [0, 0]


def test_cancelling_values_do_no_harm() -> None:
    features = canonical(np.array([[1.0, 2.0], [-1.0, 0.0]], np.float32))
    result = kernels.pifa(features, canonical(np.ones((1, 2), np.float32)))
    np.testing.assert_allclose(result.toarray(), [[0.0, 1.0]])


def test_members_must_fit_the_features() -> None:
    with pytest.raises(ValueError, match=r"3 texts.*2 rows"):
        kernels.pifa(random_matrix(2, 5, 0.9, 0), canonical(np.ones((1, 3), np.float32)))

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse as sp

from treetop.errors import DataError
from treetop.kernels import NamePostings, rank_by_names
from treetop.kernels.reference import names as reference
from treetop.sparse import canonical
from treetop.types import CSR

LABELS, TERMS = 12, 9
ONLY = np.array([True, True, False])


def random_case(texts: int, depth: int, seed: int) -> tuple[CSR, np.ndarray, np.ndarray, NamePostings, np.ndarray]:
    rng = np.random.default_rng(seed)
    terms = canonical(sp.random_array((texts, TERMS), density=0.3, format="csr", rng=rng, dtype=np.float32))
    listed = np.argsort(rng.random((texts, LABELS)), axis=1)[:, :depth].astype(np.int32)
    listed[np.arange(depth) >= rng.integers(0, depth + 1, (texts, 1))] = -1
    scores = np.where(listed >= 0, -np.sort(-rng.integers(0, 8, (texts, depth)) / 8), 0).astype(np.float32)
    counts = rng.integers(0, 4, TERMS)
    labels = np.concatenate([np.sort(rng.choice(LABELS, count, replace=False)) for count in counts]).astype(np.int32)
    shares = (rng.integers(1, 4, len(labels)) / 8).astype(np.float32)
    worth = (rng.integers(0, 3, LABELS) / 4).astype(np.float32)
    return terms, listed, scores, NamePostings(np.append(0, np.cumsum(counts)), labels, shares), worth


@given(st.integers(0, 40), st.integers(1, 6), st.integers(1, 14), st.booleans(), st.integers(1, 4), st.integers(0, 999))
def test_it_equals_the_reference(texts: int, depth: int, k: int, some: bool, power: int, seed: int) -> None:
    case = random_case(texts, depth, seed)
    allowed = np.random.default_rng(seed).random(LABELS) < 0.5 if some else None
    if allowed is not None:
        allowed[case[1][case[1] >= 0]] = True  # what is listed was allowed
    found = rank_by_names(*case, floor=0.125, power=power, k=k, allowed=allowed, threads=1 + seed % 3)
    expected = reference.rank_by_names(*case, floor=0.125, power=power, k=k, allowed=allowed)
    np.testing.assert_array_equal(found[0], expected[0])  # shares are eighths: powers are exact
    np.testing.assert_array_equal(found[1], expected[1])


def test_by_hand() -> None:
    terms = canonical(sp.csr_array(np.array([[1, 1], [0, 0]], np.float32)))
    names = NamePostings(np.array([0, 2, 3]), np.array([0, 2, 2], np.int32), np.array([1, 0.5, 0.25], np.float32))
    listed, scores = np.array([[1, 0], [1, -1]], np.int32), np.array([[1, 0.5], [1, 0]], np.float32)
    worth = np.array([0.25, 0.25, 2], np.float32)
    labels, values = rank_by_names(terms, listed, scores, names, worth, floor=0.1, k=3)
    np.testing.assert_array_equal(labels, [[2, 1, 0], [1, -1, -1]])  # label 2 comes in by its name alone
    np.testing.assert_allclose(values, [[1.6, 1.0, 0.75], [1.0, 0.0, 0.0]])
    labels, _ = rank_by_names(terms, listed, scores, names, worth, floor=0.1, k=3, allowed=ONLY)
    np.testing.assert_array_equal(labels, [[1, 0, -1], [1, -1, -1]])


def test_what_does_not_fit_is_refused() -> None:
    terms, listed, scores, names, worth = random_case(3, 2, 1)
    with pytest.raises(DataError, match="the texts have 9 terms, the names 8"):
        rank_by_names(terms, listed, scores, names._replace(start=names.start[:-1]), worth, floor=0, k=1)
    with pytest.raises(DataError, match="is beyond the 1 that names"):
        rank_by_names(terms, listed, scores, names, worth[:1], floor=0, k=1)
    with pytest.raises(DataError, match="3 texts, but"):
        rank_by_names(terms, listed[:2], scores[:2], names, worth, floor=0, k=1)

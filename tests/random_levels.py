"""Random sparse matrices and levels of a tree, for the kernels' tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse as sp

from treetop.types import CSR, Dense, Floats


@dataclass
class Weights:
    sparse: CSR | None
    dense: Dense | None
    bias: Floats


def csr(matrix: object) -> CSR:
    made = sp.csr_array(matrix, dtype=np.float32)
    made.sort_indices()
    return CSR((made.data, made.indices.astype(np.int32), made.indptr.astype(np.int64)), shape=made.shape)


def random_csr(rng: np.random.Generator, rows: int, columns: int, density: float) -> CSR:
    mask = rng.random((rows, columns)) < density
    return csr(np.where(mask, rng.normal(size=(rows, columns)), 0))


def split(rng: np.random.Generator, nodes: int, parents: int) -> np.ndarray:
    """Uneven runs of children; some parents have none."""
    cuts = np.sort(rng.integers(0, nodes + 1, parents - 1))
    return np.concatenate([[0], cuts, [nodes]]).astype(np.int64)


def assert_same_bits(a, b):
    for left, right in zip(a, b, strict=True):
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert left.tobytes() == right.tobytes()

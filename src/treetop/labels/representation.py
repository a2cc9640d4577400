"""What a label looks like: features that labels with similar texts, or similar names, share.

Any features will do. tf-idf gives PIFA-tf-idf, embeddings give PIFA-neural, both joined give the refined tree of
XR-Transformer, and the features of label texts are just features: `beside` and `mix` combine them with the rest.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from treetop import kernels
from treetop.errors import ConfigError, DataError
from treetop.runtime import cores_of
from treetop.sparse import AnyFeatures, Joined, canonical, dense_block, normalise, sparse_block
from treetop.types import CSR, Dense, Features

__all__ = ["beside", "mix", "pifa", "pii", "unit_rows"]


def pifa(features: AnyFeatures, labels: CSR, *, normalise_labels: bool = True, threads: int = 0) -> AnyFeatures:
    """Positive instance feature aggregation: a label is the sum of its texts' features, scaled to length one.

        z_l = v_l / |v_l|,   v_l = Σ_i y_il · x_i     (y_i scaled to length one first if `normalise_labels`)

    There are two published definitions, which give different trees. PECOS and X-Transformer scale the label vector of
    each text first, so that a text with many labels says less about each (Yu et al., JMLR 2022; Chang et al., KDD
    2020); AttentionXML and LightXML do not (You et al., NeurIPS 2019; Jiang et al., AAAI 2021). Both expect text
    features of length one, as tf-idf gives them.

    The result is of the same kind as `features`; joined blocks are scaled together. Labels without texts are zero.
    """
    if features.shape[0] != labels.shape[0]:
        raise DataError(f"features of {features.shape[0]} texts do not fit the labels of {labels.shape[0]} texts")
    members = canonical((normalise(labels) if normalise_labels else labels).T)
    cores = cores_of(threads)
    if isinstance(features, Joined):
        sums = kernels.pifa(features.sparse, members, normalise=False, threads=cores)
        return unit_rows(Joined(sums, _dense_product(members, features.dense)))
    if isinstance(features, np.ndarray):
        return normalise(_dense_product(members, features))
    return kernels.pifa(features, members, threads=cores)


def pii(labels: CSR) -> CSR:
    """Positive instance indices: a label is the set of its texts, as a vector of length one (labels × texts)."""
    return normalise(canonical(labels.T))


def beside(a: AnyFeatures, b: AnyFeatures) -> AnyFeatures:
    """Two representations of the same labels in one: the columns of `a`, then those of `b` (sparse ones first)."""
    if a.shape[0] != b.shape[0]:
        raise DataError(f"representations of {a.shape[0]} and {b.shape[0]} labels do not go side by side")
    sparse = [block for block in (sparse_block(a), sparse_block(b)) if block is not None]
    dense = [block for block in (dense_block(a), dense_block(b)) if block is not None]
    if not sparse:
        return np.concatenate(dense, axis=1)
    joined = canonical(sp.hstack(sparse, format="csr"))
    return Joined(joined, np.concatenate(dense, axis=1)) if dense else joined


def mix(a: Features, b: Features, alpha: float | NDArray[np.floating]) -> Features:
    """The convex combination `alpha · a + (1 - alpha) · b`; alpha is one number, or one for each label."""
    if a.shape != b.shape:
        raise DataError(f"representations of shapes {a.shape} and {b.shape} cannot be mixed; put them `beside` instead")
    weight = np.broadcast_to(np.asarray(alpha, np.float32), a.shape[0])
    if not np.all((weight >= 0) & (weight <= 1)):
        raise ConfigError(f"alpha is {alpha}; give numbers from 0 to 1")
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.asarray(a * weight[:, None] + b * (1 - weight)[:, None], np.float32)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        raise DataError("a sparse and a dense representation cannot be mixed; put them `beside` instead")
    return canonical(sp.diags_array(weight) @ a + sp.diags_array(1 - weight) @ b)


def unit_rows(features: AnyFeatures) -> AnyFeatures:
    """Rows scaled to length one over all blocks together; zero rows stay zero. No copy if they are so already."""
    lengths = np.sqrt(_squared_lengths(features))
    if np.all((np.abs(lengths - 1) < 1e-4) | (lengths == 0)):
        return features
    scale = (1 / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    sparse, dense = sparse_block(features), dense_block(features)
    if sparse is not None:
        sparse = CSR(
            (sparse.data * np.repeat(scale, np.diff(sparse.indptr)), sparse.indices, sparse.indptr), sparse.shape
        )
    if dense is not None:
        dense = dense * scale[:, None]
    if sparse is None or dense is None:
        return cast(Features, dense if sparse is None else canonical(sparse))
    return Joined(canonical(sparse), dense)


def _squared_lengths(features: AnyFeatures) -> NDArray[np.float64]:
    total = np.zeros(features.shape[0])
    sparse, dense = sparse_block(features), dense_block(features)
    if sparse is not None:
        total += kernels.squared_lengths(sparse)
    if dense is not None:
        total += np.einsum("ij,ij->i", dense, dense, dtype=np.float64)
    return total


def _dense_product(members: CSR, dense: Dense) -> Dense:
    return np.ascontiguousarray(members @ dense, np.float32)

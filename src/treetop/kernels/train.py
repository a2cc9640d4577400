"""The linear training kernel: the weights of every node of a level, parent by parent.

For each node, with texts `i` shortlisted at its parent or are its positives, `yᵢ = ±1`:

    squared_hinge   min over w of ½|w|² + Σᵢ Cᵢ·max(0, 1 − yᵢ w·xᵢ)²
    logistic        min over w of ½|w|² + Σᵢ Cᵢ·log(1 + exp(−yᵢ w·xᵢ))

solved in the dual by coordinate descent: Hsieh et al., "A Dual Coordinate Descent Method for Large-scale Linear SVM"
(ICML 2008) and Yu, Huang, Lin, "Dual coordinate descent methods for logistic regression and maximum entropy models"
(2011), as LIBLINEAR's solvers 1 and 7. `kernels/reference/train.py` is the same thing in plain numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treetop.errors import ConfigError, DataError
from treetop.kernels import _native
from treetop.kernels.rows import csr_of, offsets_of
from treetop.types import CSR, Dense, Floats, Ids

__all__ = ["NodeWeights", "Offsets", "TrainingFeatures", "train_nodes", "training_cost"]

Offsets = NDArray[np.int64]


@dataclass(frozen=True)
class NodeWeights:
    """One linear classifier per node: score of a text = sparse·x + dense·e + bias."""

    sparse: CSR
    """Nodes × features, in the order of `children`; without features, nodes × 0."""
    dense: Dense | None
    """Nodes × dims of the dense block, never pruned; None without such a block."""
    bias: Floats
    """What is added to each node's score."""


class TrainingFeatures:
    """Features of the training texts, looked at in full once, however many blocks of nodes are trained on them.

    Either block may be None; both together are two blocks of one feature vector.
    """

    def __init__(self, sparse: CSR | None, dense: Dense | None) -> None:
        self.texts = _check_features(sparse, dense)
        self.columns = 0 if sparse is None else sparse.shape[1]
        self.indptr = None if sparse is None else offsets_of(sparse)
        self.indices = None if sparse is None else sparse.indices
        self.data = None if sparse is None else sparse.data
        self.dense = dense


def train_nodes(
    features: TrainingFeatures,
    *,
    children_ptr: Offsets,
    children: Ids,
    shortlisted_ptr: Offsets,
    shortlisted: Ids,
    positive_ptr: Offsets,
    positive: Ids,
    positive_cost: Floats | None = None,
    negative_cost: Floats | None = None,
    loss: Literal["squared_hinge", "logistic"] = "squared_hinge",
    c_positive: float = 1.0,
    c_negative: float = 1.0,
    bias: float = 1.0,
    eps: float = 0.1,
    max_iter: int = 100,
    threshold: float = 0.1,
    max_weights: int = 0,
    seed: int = 0,
    first_child: int = 0,
    level_cost: float | None = None,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
) -> NodeWeights:
    """Train every node of `children` against its siblings' texts.

    A node's training texts are those shortlisted at its parent, negative unless positive, and all its positives, even
    those not shortlisted. `Cᵢ` is `c_positive`·`positive_cost` or `c_negative`·`negative_cost`; a text of cost 0
    takes no part. A node without positives gets no weights and a bias of −10, so that it never wins.
    The result does not depend on `threads`, nor on how the parents of a level are divided over several calls.

    Parameters
    ----------
    features
        Of all texts, or of those that the lists below name.
    children_ptr, children
        Nodes of each parent: parent p has `children[children_ptr[p]:children_ptr[p + 1]]`.
    shortlisted_ptr, shortlisted
        Texts on whose shortlist each parent is, ascending.
    positive_ptr, positive
        Positive texts of the j-th entry of `children`, ascending.
    positive_cost, negative_cost
        Relative costs aligned with `positive` and `shortlisted`; None means 1.
    loss, c_positive, c_negative
        What is minimised, see above.
    bias
        Value of an extra feature that every text has (regularised like the others); 0 for none.
    eps, max_iter
        Stop when the optimality conditions hold up to `eps`, at the latest after `max_iter` passes over the texts.
    threshold, max_weights
        Sparse weights below `threshold` in magnitude are dropped, then all but the `max_weights` largest (0: no limit).
    seed, threads
        The seed decides the order in which texts are visited; threads only how long it takes.
    first_child, level_cost
        Where a part of a level belongs: the number of its first node, and the `training_cost` of the whole level. By
        default these parents are the whole level.
    progress
        Called now and then with the number of nodes that were finished since; nodes without positives are not counted.
    """
    _check_settings(loss, c_positive, c_negative, eps, max_iter, threshold, max_weights)
    _check_lists("children", children_ptr, children, None)
    _check_lists("shortlisted", shortlisted_ptr, shortlisted, features.texts)
    _check_lists("positive", positive_ptr, positive, features.texts)
    _check_length("shortlisted_ptr", shortlisted_ptr, len(children_ptr), "children_ptr")
    _check_length("positive_ptr", positive_ptr, len(children) + 1, "children plus one")
    _check_costs("positive_cost", positive_cost, positive)
    _check_costs("negative_cost", negative_cost, shortlisted)
    start, columns, values, dense_weights, bias_weights = _native.train_nodes(
        indptr=features.indptr,
        indices=features.indices,
        data=features.data,
        columns=features.columns,
        dense=features.dense,
        children_ptr=children_ptr,
        shortlisted_ptr=shortlisted_ptr,
        shortlisted=shortlisted,
        positive_ptr=positive_ptr,
        positive=positive,
        positive_cost=positive_cost,
        negative_cost=negative_cost,
        loss=loss,
        c_positive=c_positive,
        c_negative=c_negative,
        bias=bias,
        eps=eps,
        max_iter=max_iter,
        threshold=threshold,
        max_weights=max_weights,
        seed=seed % 2**64,
        first_child=first_child,
        level_cost=training_cost(children_ptr, shortlisted_ptr, positive_ptr) if level_cost is None else level_cost,
        threads=max(1, threads),
        progress=progress,
    )
    weights = csr_of(start, columns, values, columns=features.columns)
    return NodeWeights(sparse=weights, dense=None if features.dense is None else dense_weights, bias=bias_weights)


def training_cost(children_ptr: Offsets, shortlisted_ptr: NDArray[Any], positive_ptr: NDArray[Any]) -> float:
    """What training these parents' nodes costs, in visits of texts: it decides which parents are worth dividing."""
    nodes = np.concatenate([[0], np.cumsum(np.diff(positive_ptr) > 0)])
    return float((np.diff(shortlisted_ptr) + 1) @ np.diff(nodes[children_ptr]))


def _check_settings(
    loss: str, c_positive: float, c_negative: float, eps: float, max_iter: int, threshold: float, max_weights: int
) -> None:
    if loss not in ("squared_hinge", "logistic"):
        raise ConfigError(f"loss is {loss!r}; use 'squared_hinge' or 'logistic'")
    for name, value in (("c_positive", c_positive), ("c_negative", c_negative), ("eps", eps)):
        if not (0 < value < np.inf):
            raise ConfigError(f"{name} is {value}; use a number above 0")
    if max_iter < 1:
        raise ConfigError(f"max_iter is {max_iter}; use at least 1")
    if not threshold >= 0 or max_weights < 0:
        raise ConfigError(f"threshold is {threshold} and max_weights {max_weights}; neither may be negative")


def _check_features(sparse: CSR | None, dense: Dense | None) -> int:
    if sparse is None and dense is None:
        raise DataError("neither sparse nor dense features are given; give at least one block")
    if dense is not None and (dense.ndim != 2 or dense.dtype != np.float32 or not dense.flags.c_contiguous):
        raise DataError(f"dense features are {dense.dtype}, {dense.ndim}-d; use a C-contiguous float32 matrix")
    if sparse is None:
        assert dense is not None
        return int(dense.shape[0])
    if sparse.format != "csr" or sparse.dtype != np.float32:
        raise DataError(f"sparse features are {sparse.format}, {sparse.dtype}; use CSR of float32 (sparse.canonical)")
    if dense is not None and dense.shape[0] != sparse.shape[0]:
        raise DataError(f"sparse features have {sparse.shape[0]} rows but dense ones {dense.shape[0]}; align them")
    _check_lists("sparse", offsets_of(sparse), sparse.indices, sparse.shape[1], ascending=False)
    return int(sparse.shape[0])


def _check_lists(name: str, pointer: Offsets, values: Ids, below: int | None, *, ascending: bool = True) -> None:
    """Lists in CSR manner: pointers that start at 0, never fall and end at the length; values in [0, below)."""
    for part, array, kind in ((f"{name}_ptr", pointer, np.int64), (name, values, np.int32)):
        if array.ndim != 1 or array.dtype != kind or not array.flags.c_contiguous:
            raise DataError(f"{part} is {array.dtype}, {array.ndim}-d; use a contiguous vector of {kind.__name__}")
    if len(pointer) == 0 or pointer[0] != 0 or pointer[-1] != len(values) or np.any(np.diff(pointer) < 0):
        raise DataError(
            f"{name}_ptr does not cut {name} (length {len(values)}) into lists; it must rise from 0 to that"
        )
    if below is None or len(values) == 0:
        return
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= below:
        raise DataError(f"{name} holds {low if low < 0 else high}; use ids from 0 to {below - 1}")
    if ascending:
        falls = np.diff(values) <= 0
        starts = pointer[1:-1]
        falls[starts[(starts > 0) & (starts < len(values))] - 1] = False
        if falls.any():
            raise DataError(f"{name} is not strictly ascending after entry {int(falls.argmax())}; sort each list")


def _check_length(name: str, array: Offsets, length: int, other: str) -> None:
    if len(array) != length:
        raise DataError(f"{name} has {len(array)} entries but {other} has {length}; they must match")


def _check_costs(name: str, costs: Floats | None, ids: Ids) -> None:
    if costs is None:
        return
    if costs.shape != ids.shape or costs.dtype != np.float32 or not costs.flags.c_contiguous:
        raise DataError(f"{name} is {costs.dtype} of shape {costs.shape}; use contiguous float32 of shape {ids.shape}")
    if not np.all(np.isfinite(costs)) or np.any(costs < 0):
        raise DataError(f"{name} holds {costs[~(np.isfinite(costs) & (costs >= 0))][0]}; costs must be finite and >= 0")

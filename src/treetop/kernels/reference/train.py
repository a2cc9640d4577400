"""`train_nodes` in plain numpy: one node after the other, one text after the other. Slow, and meant to be read.

The native kernel solves the same problems, 16 nodes at once; it visits texts in another order, so weights agree up to
the tolerance `eps` and not to the last bit.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from treetop.kernels.train import NodeWeights, Offsets
from treetop.types import CSR, Dense, Floats, Ids

__all__ = ["NEVER", "node_problem", "objective", "solve_logistic", "solve_squared_hinge", "train_nodes"]

Vector = NDArray[np.float64]

NEVER = -10.0
"""Bias of a node without positives."""


def train_nodes(
    *,
    sparse: CSR | None,
    dense: Dense | None,
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
    threads: int = 1,  # noqa: ARG001  one is enough for an oracle
) -> NodeWeights:
    """See `treetop.kernels.train_nodes`."""
    x = all_features(sparse, dense, bias)
    solve = solve_squared_hinge if loss == "squared_hinge" else solve_logistic
    width = 0 if sparse is None else sparse.shape[1]
    found = np.zeros((len(children), x.shape[1]))
    found[:, -1] = NEVER
    positive_costs = np.ones(len(positive)) if positive_cost is None else positive_cost.astype(np.float64)
    negative_costs = np.ones(len(shortlisted)) if negative_cost is None else negative_cost.astype(np.float64)
    for parent in range(len(children_ptr) - 1):
        here = slice(shortlisted_ptr[parent], shortlisted_ptr[parent + 1])
        for j in range(children_ptr[parent], children_ptr[parent + 1]):
            own = slice(positive_ptr[j], positive_ptr[j + 1])
            if own.start == own.stop:
                continue
            texts, y, c = node_problem(
                shortlisted[here], negative_costs[here] * c_negative, positive[own], positive_costs[own] * c_positive
            )
            weights = solve(x[texts], y, c, eps, max_iter, np.random.default_rng((seed, j)))
            found[j] = np.append(weights[:-1], weights[-1] * bias)
    pruned = prune(found[:, :width], threshold, max_weights)
    return NodeWeights(
        sparse=csr_array(pruned.astype(np.float32)),
        dense=None if dense is None else found[:, width:-1].astype(np.float32),
        bias=found[:, -1].astype(np.float32),
    )


def all_features(sparse: CSR | None, dense: Dense | None, bias: float) -> Vector:
    """All blocks side by side, the bias feature last, as one dense matrix."""
    blocks = [block for block in (None if sparse is None else sparse.toarray(), dense) if block is not None]
    return np.hstack([*blocks, np.full((len(blocks[0]), 1), bias)]).astype(np.float64)


def node_problem(shortlisted: Ids, shortlisted_c: Vector, own: Ids, own_c: Vector) -> tuple[Ids, Vector, Vector]:
    """Texts of a node, their signs and their C: the shortlisted are negative unless its own. C = 0: left out."""
    negative = ~np.isin(shortlisted, own)
    texts = np.concatenate([own, shortlisted[negative]])
    y = np.concatenate([np.ones(len(own)), -np.ones(negative.sum())])
    c = np.concatenate([own_c, shortlisted_c[negative]])
    return texts[c > 0], y[c > 0], c[c > 0]


def objective(w: Vector, x: Vector, y: Vector, c: Vector, loss: str) -> float:
    """The primal objective that `train_nodes` minimises for one node."""
    margin = y * (x @ w)
    losses = np.maximum(0, 1 - margin) ** 2 if loss == "squared_hinge" else np.logaddexp(0, -margin)
    return float(0.5 * w @ w + c @ losses)


def solve_squared_hinge(x: Vector, y: Vector, c: Vector, eps: float, max_iter: int, rng: np.random.Generator) -> Vector:
    """Dual coordinate descent with shrinking (Hsieh et al. 2008, algorithm 3)."""
    w, alpha = np.zeros(x.shape[1]), np.zeros(len(y))
    diagonal = 0.5 / c
    curvature = (x**2).sum(axis=1) + diagonal
    active, limit = np.arange(len(y)), np.inf
    for _ in range(max_iter):
        gradients, kept = [], []
        for i in rng.permutation(active):
            gradient = y[i] * (x[i] @ w) - 1 + alpha[i] * diagonal[i]
            if alpha[i] == 0 and gradient > limit:
                continue  # shrunk: far on the right side of the margin
            kept.append(i)
            gradients.append(min(gradient, 0.0) if alpha[i] == 0 else gradient)
            before = alpha[i]
            alpha[i] = max(before - gradient / curvature[i], 0.0)
            w += (alpha[i] - before) * y[i] * x[i]
        active = np.array(kept, dtype=np.int64)
        largest, smallest = max(gradients, default=0.0), min(gradients, default=0.0)
        if largest - smallest > eps:
            limit = largest if largest > 0 else np.inf
        elif len(active) == len(y):
            break
        else:
            active, limit = np.arange(len(y)), np.inf  # converged on the active texts: now look at all of them
    return w


def solve_logistic(x: Vector, y: Vector, c: Vector, eps: float, max_iter: int, rng: np.random.Generator) -> Vector:
    """Dual coordinate descent (Yu, Huang, Lin 2011), with u = log α/(C−α) as the variable of each text."""
    w, log_odds = np.zeros(x.shape[1]), np.full(len(y), -np.inf)
    squares = (x**2).sum(axis=1)
    for _ in range(max_iter):
        violation = 0.0
        for i in rng.permutation(len(y)):
            margin = y[i] * (x[i] @ w)
            violation = max(violation, abs(log_odds[i] + margin))
            before = c[i] * sigmoid(log_odds[i])
            log_odds[i] = balance(margin - squares[i] * before, squares[i] * c[i])
            w += (c[i] * sigmoid(log_odds[i]) - before) * y[i] * x[i]
        if violation < eps:
            break
    return w


def balance(offset: float, scale: float) -> float:
    """The root of u + offset + scale·σ(u), by bisection: the left side rises with u."""
    low, high = -offset - scale, -offset
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle + offset + scale * sigmoid(middle) < 0 else (low, middle)
    return 0.5 * (low + high)


def sigmoid(u: float) -> float:
    """1 / (1 + e^−u) without overflow."""
    return 1 / (1 + math.exp(-u)) if u >= 0 else 1 - 1 / (1 + math.exp(u)) if u > -30 else math.exp(u)


def prune(weights: Vector, threshold: float, most: int) -> Vector:
    """Zero what is below the threshold, then all but the `most` largest of each row (ties: lower feature first)."""
    kept = np.where(np.abs(weights) >= threshold, weights, 0.0)
    if most:
        for row in kept:
            row[np.argsort(-np.abs(row), kind="stable")[most:]] = 0.0
    return kept

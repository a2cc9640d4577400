"""Where a scorer begins: at the solution of linear problems, on embeddings of an encoder not yet tuned for it.

A linear solver finds in seconds what a random scorer needs epochs for, and the encoder is not pulled about by one that
knows nothing yet (XR-Transformer, eq. 11).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

from treetop import kernels
from treetop.labels import LabelTree
from treetop.neural.scorer import NodeScorer
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.types import CSR, Dense

__all__ = ["start_linearly"]

SOLVED: dict[str, tuple[Literal["squared_hinge", "logistic"], float]] = {
    "squared_hinge": ("squared_hinge", 1.0),
    "bce": ("logistic", 10.0),
}
"""The linear problem that stands for a loss, and how much more its errors cost: without that, logistic weights stay far
too small for embeddings of length one (measured, see experiments)."""


def start_linearly(
    scorer: NodeScorer,
    embedding: Dense,
    costs: CSR,
    rivals: CSR | None,
    tree: LabelTree,
    level: int,
    runtime: Runtime,
    *,
    cost: float = 1.0,
    negative: float = 1.0,
    loss: Literal["squared_hinge", "bce"] = "squared_hinge",
) -> None:
    """Fill the scorer of a level; `costs` (texts × nodes) holds the true nodes, `rivals` who competes at which parent.

    Without `rivals` all texts compete everywhere. The problems are those of embeddings without their mean, which can be
    nine tenths of them and says nothing about a text, scaled to length one: longer ones need smaller weights, which
    cost less, so errors are made cheaper by as much, and the constant feature as long.
    """
    mean = embedding.mean(0, dtype=np.float64).astype(np.float32)
    centred = embedding - mean
    length = max(float(np.square(centred).sum(1).mean()) ** 0.5, 1e-6)
    (solver, more), (starts, nodes) = SOLVED[loss], tree.children(level)
    c = more * cost / length**2
    parents = np.ones((len(embedding), len(starts) - 1), np.float32) if rivals is None else rivals
    competing, positive = canonical(parents.T), canonical(costs.T)[nodes]
    with runtime.bar("linear start", int(np.count_nonzero(np.diff(positive.indptr)))) as advance:
        solved = kernels.train_nodes(
            sparse=None, dense=centred, children_ptr=starts, children=nodes,
            compete_ptr=competing.indptr.astype(np.int64), compete=competing.indices,
            positive_ptr=positive.indptr.astype(np.int64), positive=positive.indices, positive_cost=positive.data,
            loss=solver, c_positive=c, c_negative=c * negative, bias=length,
            threshold=0.0, seed=runtime.seed, threads=runtime.cores, progress=advance,
        )  # fmt: skip
    assert solved.dense is not None
    weight, bias = np.empty_like(solved.dense), np.empty_like(solved.bias)
    weight[nodes], bias[nodes] = solved.dense, solved.bias - solved.dense @ mean
    scorer.fill(torch.from_numpy(weight), torch.from_numpy(bias))

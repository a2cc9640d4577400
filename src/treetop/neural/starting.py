"""Where a scorer begins: at the solution of linear problems, on embeddings of an encoder not yet tuned for it.

A linear solver finds in seconds what a random scorer needs epochs for, and the encoder is not pulled about by one that
knows nothing yet (XR-Transformer, eq. 11).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

from treetop.labels import LabelTree
from treetop.linear import LinearLevel, SolverConfig
from treetop.neural.scorer import Scorer
from treetop.runtime import Runtime
from treetop.types import CSR, Dense

__all__ = ["start_linearly"]

SOLVED: dict[str, tuple[Literal["squared_hinge", "logistic"], float]] = {
    "squared_hinge": ("squared_hinge", 1.0),
    "bce": ("logistic", 10.0),
}
"""The linear problem that stands for a loss, and how much more its errors cost: without that, logistic weights stay far
too small for embeddings of length one (measured, see experiments)."""


def start_linearly(
    scorer: Scorer,
    embedding: Dense,
    costs: CSR,
    shortlist: CSR | None,
    tree: LabelTree,
    level: int,
    runtime: Runtime,
    *,
    cost: float = 1.0,
    negative: float = 1.0,
    loss: Literal["squared_hinge", "bce"] = "squared_hinge",
) -> None:
    """Fill the scorer of a level; `costs` (texts × nodes) holds the true nodes.

    Nodes learn from the texts with their parent on the `shortlist`, or from all if there is none. The problems are
    those of embeddings without their mean, which can be nine tenths of them and says nothing about a text, scaled to
    length one: longer ones need smaller weights, which cost less, so errors are made cheaper by as much, and the
    constant feature as long.
    """
    mean = embedding.mean(0, dtype=np.float64).astype(np.float32)
    centred = embedding - mean
    length = max(float(np.square(centred).sum(1).mean()) ** 0.5, 1e-6)
    solver, more = SOLVED[loss]
    c = more * cost / length**2
    config = SolverConfig(loss=solver, c_positive=c, c_negative=c * negative, bias=length, threshold=0.0)
    parents = tree.parents[level]
    trained = LinearLevel.fit(
        centred, costs, shortlist, parents, config, costs=True, runtime=runtime, title="linear start"
    )
    solved = trained.all_weights()
    assert solved.dense is not None
    scorer.fill(torch.from_numpy(solved.dense), torch.from_numpy(solved.bias - solved.dense @ mean))

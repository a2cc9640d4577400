"""A level with a dense row of weights per node, as networks have: margins of some nodes, or the best of all.

    margin(text, node) = <state of the text, weight of the node> + bias of the node

The weights are used where they are, mapped from a file or not: only the rows that are asked for are touched, and no
matrix of texts × nodes is made.
"""

from __future__ import annotations

import numpy as np

from treetop.errors import ConfigError, DataError
from treetop.kernels import _native
from treetop.kernels.rows import first_bad_row, offsets_of
from treetop.kernels.search import Mask
from treetop.types import CSR, Dense, Floats, Ids

__all__ = ["best_nodes", "margins_at"]


def margins_at(states: Dense, weight: Dense, bias: Floats | None, shortlist: CSR, *, threads: int = 1) -> Floats:
    """The margins of the entries of a shortlist (texts × nodes), in their order."""
    _check(states, weight, bias, threads)
    if shortlist.shape != (len(states), len(weight)):
        raise DataError(f"the shortlist is {shortlist.shape} for {len(states)} texts and {len(weight)} nodes")
    start, node = offsets_of(shortlist), np.ascontiguousarray(shortlist.indices, np.int32)
    if (row := first_bad_row(start, node, columns=len(weight))) is not None:
        raise DataError(f"the shortlist is damaged in row {row}")
    return _native.margins_at(np.ascontiguousarray(states, np.float32), weight, bias, start, node, threads)


def best_nodes(
    states: Dense, weight: Dense, bias: Floats | None, k: int, *, allowed: Mask | None = None, threads: int = 1
) -> tuple[Ids, Floats]:
    """The k nodes of the largest margins of each text (texts × k, -1 where there are fewer) and these, best first.

    Ties go to the lower node; of `allowed`, a bool for each node, only those that are true take part.
    """
    _check(states, weight, bias, threads)
    if k < 1:
        raise ConfigError(f"k is {k}; it must be at least 1")
    if allowed is not None and allowed.shape != (len(weight),):
        raise DataError(f"a mask of shape {allowed.shape} for {len(weight)} nodes")
    open_nodes = None if allowed is None else np.ascontiguousarray(allowed, np.bool_).view(np.uint8)
    states = np.ascontiguousarray(states, np.float32)
    return _native.best_nodes(states, weight, bias, min(k, len(weight)), open_nodes, threads)


def _check(states: Dense, weight: Dense, bias: Floats | None, threads: int) -> None:
    if states.ndim != 2 or weight.ndim != 2 or states.shape[1] != weight.shape[1]:
        raise DataError(f"states of shape {states.shape} do not fit weights of shape {weight.shape}")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise DataError(f"{bias.shape} biases for {len(weight)} nodes")
    if threads < 1:
        raise ConfigError(f"threads is {threads}; use at least 1")

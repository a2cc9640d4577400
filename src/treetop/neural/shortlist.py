"""The shortlist of each text, as padded tensors: `pick`, `expand`, `targets`.

The words are those of `LabelTree`, on tensors of shape (texts, places) that hold node ids; -1 marks an empty place. No
row ever holds a node twice, and nothing depends on which other texts are in the batch.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from treetop.text.devices import must_wait

__all__ = ["EMPTY", "Children", "added", "expand", "expand_scores", "pick", "targets"]

EMPTY = -1
"""The id of an empty place."""


class Children(nn.Module):
    """The children of every node of a level: node p has `nodes[start[p] : start[p] + count[p]]` at the level below."""

    start: Tensor
    count: Tensor
    nodes: Tensor
    most: int
    """Children of a node, at most; 0 where nodes differ so much that this says little."""

    def __init__(self, ptr: NDArray[np.int64], nodes: NDArray[np.int32]) -> None:
        super().__init__()
        bounds = torch.as_tensor(np.asarray(ptr, np.int64))
        most = int(np.diff(ptr).max(initial=0))
        self.most = most if most * (len(ptr) - 1) <= 2 * len(nodes) else 0
        self.register_buffer("start", bounds[:-1].clone(), persistent=False)
        self.register_buffer("count", bounds.diff(), persistent=False)
        self.register_buffer("nodes", torch.as_tensor(np.asarray(nodes, np.int64)), persistent=False)


def pick(
    scores: Tensor,
    shortlist: Tensor | None,
    beam: int,
    force: Tensor | None = None,
    carry: Tensor | None = None,
    *,
    most: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The `beam` best of each text's shortlist and their scores, best first; (texts, places) twice.

    With `carry`, other values of the same nodes, these are returned in the place of scores.
    `force` (shaped like the scores; true where > 0) marks nodes that are kept whatever their score, before all others:
    teacher forcing. A text with more forced nodes than `beam` keeps every one of them. Who knows how many a text can
    have at `most` need not wait for an accelerator to count them, where empty places are then behind.
    """
    worth = scores.detach()
    if shortlist is not None:
        worth = worth.masked_fill(shortlist < 0, -torch.inf)
    width = beam
    if force is not None:
        forced = force > 0
        worth = worth.masked_fill(forced, torch.inf)
        if most is None or not must_wait(scores):
            most = int(forced.sum(1).max()) if len(forced) else 0
        width = max(beam, most)
    worth, place = worth.topk(min(width, worth.shape[1]), dim=1)
    kept = (worth > -torch.inf) & ((torch.arange(worth.shape[1], device=worth.device) < beam) | (worth == torch.inf))
    nodes = place if shortlist is None else shortlist.gather(1, place)
    return nodes.masked_fill(~kept, EMPTY), (scores if carry is None else carry).gather(1, place)


def expand(nodes: Tensor, children: Children) -> Tensor:
    """The children of the given nodes, in the order of the nodes: the shortlist of the level below."""
    return _expand(nodes, children)[0]


def expand_scores(nodes: Tensor, scores: Tensor, children: Children) -> tuple[Tensor, Tensor]:
    """The children of the given nodes, and beside each child the score of its parent (S·Cᵀ on padded tensors)."""
    shortlist, parent = _expand(nodes, children)
    return shortlist, scores.gather(1, parent)


def _expand(nodes: Tensor, children: Children) -> tuple[Tensor, Tensor]:
    """Children, and the place of each child's parent. Place c belongs to the parent whose running count passes c."""
    known = nodes.clamp(min=0)
    count = children.count[known].masked_fill(nodes < 0, 0)
    end = count.cumsum(1)
    width = children.most * nodes.shape[1] if must_wait(nodes) else 0
    width = width or (int(end[:, -1].max()) if len(end) else 0)
    place = torch.arange(width, device=nodes.device).repeat(len(nodes), 1)
    parent = torch.searchsorted(end, place, right=True).clamp(max=nodes.shape[1] - 1)
    real = place < end[:, -1:]
    position = children.start[known].gather(1, parent) + place - (end - count).gather(1, parent)
    found = children.nodes[position.masked_fill(~real, 0)] if len(children.nodes) else position
    return found.masked_fill(~real, EMPTY), parent


def added(shortlist: Tensor, nodes: Tensor) -> Tensor:
    """The shortlist with those of the given nodes (texts, places) that it lacks, behind its own."""
    if nodes.shape[1] == 0 or shortlist.shape[1] == 0:
        return torch.cat([shortlist, nodes], 1)
    known, _ = shortlist.sort(1)
    there = known.gather(1, torch.searchsorted(known, nodes).clamp(max=known.shape[1] - 1)) == nodes
    return torch.cat([shortlist, nodes.masked_fill(there, EMPTY)], 1)


def targets(true: Tensor, shortlist: Tensor | None, nodes: int, weights: Tensor | None = None) -> Tensor:
    """For every shortlisted node 0 if it is not a true node, else 1 or its weight; (texts, shortlist), or all nodes.

    `true` (texts, places) holds the true nodes of each text and `weights`, of the same shape, what each counts.
    """
    value = torch.ones(true.shape, device=true.device) if weights is None else weights
    known = true.masked_fill(true < 0, nodes)  # the sentinel lies outside every level
    if shortlist is None:
        hit = torch.zeros(len(true), nodes + 1, device=true.device)
        return hit.scatter_(1, known, value)[:, :nodes]
    if true.shape[1] == 0:
        return torch.zeros(shortlist.shape, device=true.device)
    known, order = known.sort(1)
    place = torch.searchsorted(known, shortlist).clamp(max=known.shape[1] - 1)
    return value.gather(1, order).gather(1, place) * (known.gather(1, place) == shortlist)

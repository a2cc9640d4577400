"""What the methods do with a network before and while it learns: begin from a seed, be judged, find nodes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from treetop.data import Dataset, split_by_ratio
from treetop.neural.examples import padded_rows
from treetop.neural.scorer import NodeScorer
from treetop.neural.shortlist import Children, expand_scores, pick
from treetop.predictions import Predictions
from treetop.runtime import Runtime
from treetop.text.threads import threads
from treetop.types import CSR, Dense

__all__ = [
    "find_nodes",
    "hold_out",
    "log_link",
    "node_frequencies",
    "seeded",
]

HEADS = "scorers.safetensors"
_SCORES_AT_ONCE = 2**24  # Bounds the memory of scores that are computed together.


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """A block whose random weights depend on the seed alone, and that leaves other random numbers as they were."""
    with torch.random.fork_rng(devices=[]):  # networks begin on the CPU; no GPU is woken for that
        torch.manual_seed(seed)
        yield


def hold_out(train: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset | None]:
    """Texts to learn from, and a share of them to choose by; None if nothing is held out."""
    return split_by_ratio(train, 1 - share, seed) if share else (train, None)


def node_frequencies(true: CSR, share: float = 1.0) -> NDArray[np.float64]:
    """The share of the texts in which each node is true, of those on whose shortlist it is: `share` of all, or more.

    One pseudo-text in which it is true half of the time keeps nodes without any text apart from impossible.
    """
    count = np.bincount(true.indices, minlength=true.shape[1]).astype(np.float64)
    rate: NDArray[np.float64] = (count + 0.5) / (np.maximum(share * true.shape[0], count) + 1)
    return rate


@torch.no_grad()
def find_nodes(
    scorer: NodeScorer,
    embedding: Dense,
    beam: int,
    runtime: Runtime,
    *,
    link: str = "l3-hinge",
    found: CSR | None = None,
    below: Children | None = None,
) -> CSR:
    """The `beam` best nodes of each embedded text; values are the logarithms of their scores.

    `found` is the result for the level above: the children (`below`) of what it holds are shortlisted, and the log
    of the score of the path to them is added. None shortlists all nodes.
    """
    k = min(beam, scorer.nodes)
    labels, scores = np.full((len(embedding), k), -1, np.int32), np.zeros((len(embedding), k), np.float32)
    with threads(runtime):
        for rows in np.array_split(np.arange(len(embedding)), 1 + len(embedding) * scorer.nodes // _SCORES_AT_ONCE):
            shortlist, path = None, torch.zeros((), device=runtime.device)
            if found is not None and below is not None:
                above = padded_rows(found, rows).to(runtime.device)
                shortlist, path = expand_scores(above.ids, above.values, below)
            own = log_link(scorer(torch.from_numpy(embedding[rows]).to(runtime.device), shortlist), link) + path
            best, kept = _best(own.float(), shortlist, k)
            labels[rows, : best.shape[1]], scores[rows, : best.shape[1]] = best, np.where(best < 0, 0, kept)
    return Predictions(labels, scores).to_csr(scorer.nodes)


def log_link(margins: Tensor, link: str) -> Tensor:
    """The logarithm of a score: −max(0, 1 − g)^p for the lp-hinges, log σ(g) for "sigmoid"; g itself for "noop"."""
    if link == "noop":
        return margins
    if link == "sigmoid":
        return nn.functional.logsigmoid(margins)
    return -(1 - margins).clamp(min=0).pow(int(link[1]))


def _best(values: Tensor, shortlist: Tensor | None, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k best of each row, ties by the lower label also at the cut, which `pick` leaves open."""
    best, kept = (part.cpu().numpy() for part in pick(values, shortlist, k))
    worth = values if shortlist is None else values.masked_fill(shortlist < 0, -torch.inf)
    last = torch.from_numpy(kept[:, -1:]).to(worth.device) if kept.shape[1] else worth[:, :0]
    tied = ((worth >= last).sum(1) > k).nonzero()[:, 0].tolist() if kept.shape[1] == k else []
    for row in tied:
        labels = np.arange(worth.shape[1]) if shortlist is None else shortlist[row].cpu().numpy()
        order = np.lexsort((labels, -worth[row].cpu().numpy()))[:k]
        best[row], kept[row] = labels[order], worth[row].cpu().numpy()[order]
    order = np.lexsort((best, np.where(best < 0, np.inf, -kept)), axis=-1)
    return np.take_along_axis(best, order, 1), np.take_along_axis(kept, order, 1)

"""Label features smoothed over the graph of labels that occur together.

Rare labels borrow the features of labels they occur with: ECLARE (Mittal et al., WWW 2021), used for the tree of
CascadeXML (Kharbanda et al., NeurIPS 2022).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from treetop import kernels
from treetop.errors import ConfigError
from treetop.runtime import cores_of
from treetop.sparse import canonical, from_parts, normalise, top_k
from treetop.types import CSR, Ids

__all__ = ["label_graph", "smoothed_pifa"]

_LABELS_AT_ONCE = 8192


def smoothed_pifa(
    features: CSR,
    labels: CSR,
    *,
    top: int = 1000,
    walk: int = 400,
    restart: float = 0.8,
    neighbours: int = 10,
    seed: int = 0,
    threads: int = 0,
) -> CSR:
    """Sums of the labels' texts, cut to the `top` features of each, averaged over `label_graph`, and cut again.

    Nothing is scaled before the end, so a label with many texts weighs much with its neighbours, as in the authors'
    code; the rows of the result have length one. The remaining options are those of `label_graph`.
    """
    plain = kernels.pifa(features, canonical(labels.T), normalise=False, threads=cores_of(threads))
    graph = _symmetrically_scaled(label_graph(labels, walk=walk, restart=restart, neighbours=neighbours, seed=seed))
    short = top_k(plain, top)
    blocks = [top_k(canonical(graph[rows] @ short), top) for rows in _blocks(labels.shape[1])]  # uncut, it is too wide
    return normalise(canonical(sp.vstack(blocks, format="csr")))


def label_graph(labels: CSR, *, walk: int = 400, restart: float = 0.8, neighbours: int = 10, seed: int = 0) -> CSR:
    """How often a random walk from each label visits other labels: labels × labels, `neighbours` per row.

    A step goes from a label to one of its texts and on to one of that text's labels, both at random; before each step
    the walk jumps back to its start with probability `restart`. A label that its own walk never visits, such as one
    without texts, counts as visited once.
    """
    if not 0 <= restart <= 1 or walk < 1 or neighbours < 1:
        raise ConfigError(
            f"walk is {walk}, restart {restart}, neighbours {neighbours}; "
            "give a walk and neighbours of at least 1 and a restart probability from 0 to 1"
        )
    members = canonical(labels.T)
    blocks = []
    for number, rows in enumerate(_blocks(labels.shape[1])):
        start = np.arange(rows.start, rows.stop, dtype=np.int32)
        random = np.random.default_rng([seed, number])
        visits = _walks(start, labels, members, walk, restart, random)
        blocks.append(top_k(_counts(visits, labels.shape[1]), neighbours))
    graph = canonical(sp.vstack(blocks, format="csr"))
    missing = (graph.diagonal() == 0).astype(np.float32)
    return canonical(graph + sp.diags_array(missing))


def _blocks(labels: int) -> list[slice]:
    return [slice(first, min(first + _LABELS_AT_ONCE, labels)) for first in range(0, labels, _LABELS_AT_ONCE)]


def _walks(start: Ids, labels: CSR, members: CSR, steps: int, restart: float, random: np.random.Generator) -> Ids:
    """The labels that a walk from each start visits: starts × steps."""
    visits = np.empty((len(start), steps), np.int32)
    here = start.copy()
    for step in range(steps):
        here = np.where(random.random(len(start)) < restart, start, here)
        text = _random_entry(members, here, random)
        here = np.where(text >= 0, _random_entry(labels, np.maximum(text, 0), random), here).astype(np.int32)
        visits[:, step] = here
    return visits


def _random_entry(x: CSR, rows: NDArray[np.integer], random: np.random.Generator) -> NDArray[np.int64]:
    """A random column of each row; -1 where the row is empty."""
    first, size = x.indptr[rows], x.indptr[rows + 1] - x.indptr[rows]
    place = first + (random.random(len(rows)) * size).astype(np.int64)
    return np.where(size > 0, x.indices[np.minimum(place, max(len(x.indices) - 1, 0))], -1)


def _counts(visits: Ids, labels: int) -> CSR:
    ends = np.arange(len(visits) + 1) * visits.shape[1]
    counts = from_parts(ends, visits.ravel(), None, columns=labels)
    counts.has_canonical_format = False
    return canonical(counts)


def _symmetrically_scaled(graph: CSR) -> CSR:
    """D_rows^-½ · G · D_columns^-½ with the row and column sums of G."""
    rows, columns = graph.sum(axis=1), graph.sum(axis=0)
    scale = [sp.diags_array(1 / np.sqrt(np.where(total > 0, total, 1))) for total in (rows, columns)]
    return canonical(scale[0] @ graph @ scale[1])

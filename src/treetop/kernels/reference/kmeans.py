"""The definition of the k-means kernels in numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treetop.types import CSR, Dense, Ids

__all__ = ["Random", "kmeans_split", "kmeans_tree"]

Matrix = NDArray[np.float64]
_MASK = (1 << 64) - 1
_STARTS = 8  # most of a node that begins with a sample
_CLEARLY_BETTER = 1e-5  # in mean similarity


class Random:
    """SplitMix64, started from a seed and a node's place in the tree."""

    def __init__(self, seed: int, level: int, node: int) -> None:
        self._state = (_mix(seed) + (level << 40) + node) & _MASK
        self._state = self._next()

    def below(self, n: int) -> int:
        """A whole number in [0, n)."""
        return ((self._next() >> 32) * n) >> 32

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        return _mix(self._state)


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def kmeans_tree(
    sparse: CSR | None,
    dense: Dense | None,
    *,
    depth: int,
    max_iter: int = 20,
    tolerance: float = 1e-6,
    spherical: bool = True,
    seed: int = 0,
    threads: int = 1,  # noqa: ARG001
) -> tuple[Ids, NDArray[np.int64]]:
    """Halve the labels `depth` times by balanced 2-means."""
    z = _beside(sparse, dense)
    nodes: list[NDArray[np.intp]] = [np.arange(len(z))]
    for level in range(depth):
        halves = []
        for number, node in enumerate(nodes):
            right = _halve(z[node], Random(seed, level, number), max_iter, tolerance, spherical)
            halves += [node[~right], node[right]]
        nodes = halves
    bounds = np.cumsum([0, *map(len, nodes)])
    return np.concatenate(nodes).astype(np.int32), bounds.astype(np.int64)


def kmeans_split(
    sparse: CSR | None,
    dense: Dense | None,
    *,
    order: Ids,
    bounds: NDArray[np.int64],
    ways: int,
    level: int,
    max_iter: int = 20,
    tolerance: float = 1e-6,
    spherical: bool = True,
    seed: int = 0,
    threads: int = 1,  # noqa: ARG001
) -> Ids:
    """Split each node of a level by k-means with up to `ways` centres."""
    z = _beside(sparse, dense)
    children = np.zeros(len(order), np.int32)
    for number in range(len(bounds) - 1):
        node = slice(bounds[number], bounds[number + 1])
        if node.start < node.stop:
            random = Random(seed, level, number)
            children[node] = _cluster(z[order[node]], ways, random, max_iter, tolerance, spherical)
    return children


def _beside(sparse: CSR | None, dense: Dense | None) -> Matrix:
    blocks = [block for block in (None if sparse is None else sparse.toarray(), dense) if block is not None]
    return np.concatenate(blocks, axis=1).astype(np.float64)


def _halve(z: Matrix, random: Random, max_iter: int, tolerance: float, spherical: bool) -> NDArray[np.bool_]:
    """Which rows go right."""
    n = len(z)
    if n < 2:
        return np.ones(n, bool)
    sizes = _sample_sizes(n)
    sample = z[np.arange(sizes[0]) * n // sizes[0]]
    best = -np.inf
    for _ in range(min(_STARTS, n // (2 * sizes[0])) if len(sizes) > 1 else 1):
        first = random.below(sizes[0])
        second = (first + 1 + random.below(sizes[0] - 1)) % sizes[0]
        start = _improve(sample, sample[[first]], sample[[second]], max_iter, tolerance, spherical)
        similarity = _similarity(sample[~start], spherical) + _similarity(sample[start], spherical)
        if similarity > best + _CLEARLY_BETTER * len(sample):
            best, goes_right = similarity, start
    for size in sizes[1:]:
        left, right = sample[~goes_right], sample[goes_right]
        sample = z[np.arange(size) * n // size]
        goes_right = _improve(sample, left, right, max_iter, tolerance, spherical)
    return goes_right


def _sample_sizes(n: int, smallest: int = 0) -> list[int]:
    """Even samples of 512 (or `smallest`), four times as many, … rows, up to a quarter of all; then all rows."""
    sizes, size = [], max(512, smallest)
    while 4 * size <= n:
        sizes.append(size)
        size *= 4
    return [*sizes, n]


def _improve(
    z: Matrix, left: Matrix, right: Matrix, max_iter: int, tolerance: float, spherical: bool
) -> NDArray[np.bool_]:
    """Halve the rows `z` between the centres of `left` and `right`, then between those of their own halves."""
    goes_right = _between(z, _centre(left, spherical), _centre(right, spherical))
    reached = 0.0
    for iteration in range(1, max_iter):
        before = goes_right
        centres = _centre(z[~before], spherical), _centre(z[before], spherical)
        similarity = _similarity(z[~before], spherical) + _similarity(z[before], spherical)
        if iteration > 1 and similarity - reached < tolerance * len(z):
            break
        goes_right = _between(z, *centres)
        if np.array_equal(goes_right, before):
            break
        reached = similarity
    return goes_right


def _between(z: Matrix, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows are in the upper half along the way from left to right; ties: lower rows are left."""
    goes_right = np.ones(len(z), bool)
    goes_right[np.argsort(z @ right - z @ left, kind="stable")[: len(z) // 2]] = False
    return goes_right


def _centre(z: Matrix, spherical: bool) -> NDArray[np.float64]:
    total: NDArray[np.float64] = z.sum(axis=0)
    length = np.linalg.norm(total) if spherical else len(z)
    return total / length if length > 0 else total


def _similarity(z: Matrix, spherical: bool) -> float:
    """The sum over rows of the similarity to their centre."""
    return float(z.sum(axis=0) @ _centre(z, spherical))


def _cluster(
    z: Matrix, ways: int, random: Random, max_iter: int, tolerance: float, spherical: bool
) -> NDArray[np.intp]:
    """The centre of each row, numbered without gaps."""
    n = len(z)
    sizes = _sample_sizes(n, 8 * ways)
    deck = np.arange(sizes[0]) * n // sizes[0]
    for place in range(min(ways, n)):
        other = place + random.below(len(deck) - place)
        deck[[place, other]] = deck[[other, place]]
    centres = np.stack([_centre(z[[row]], spherical) for row in deck[: min(ways, n)]])
    for size in sizes:
        sample = z[np.arange(size) * n // size]
        centre = _approach(sample, centres, max_iter, tolerance, spherical)
        centres = _centres(sample, centre, len(centres), spherical)
    return np.unique(centre, return_inverse=True)[1].reshape(-1)


def _approach(z: Matrix, centres: Matrix, max_iter: int, tolerance: float, spherical: bool) -> NDArray[np.intp]:
    """The centre of each row: first among the given ones, then among those of the rows assigned to them."""
    centre = _nearest(z, centres, spherical)
    reached = 0.0
    for iteration in range(1, max_iter):
        before = centre
        centres = _centres(z, before, len(centres), spherical)
        similarity = float((z * centres[before]).sum())
        if iteration > 1 and similarity - reached < tolerance * len(z):
            break
        centre = _nearest(z, centres, spherical)
        if np.array_equal(centre, before):
            break
        reached = similarity
    return centre


def _centres(z: Matrix, centre: NDArray[np.intp], count: int, spherical: bool) -> Matrix:
    return np.stack([_centre(z[centre == c], spherical) for c in range(count)])


def _nearest(z: Matrix, centres: Matrix, spherical: bool) -> NDArray[np.intp]:
    scores = z @ centres.T
    if not spherical:
        scores -= (centres**2).sum(axis=1) / 2
    nearest: NDArray[np.intp] = scores.argmax(axis=1)
    return nearest

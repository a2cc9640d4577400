"""Packing and beam search in plain numpy: margins node by node, in float32 and in the order the kernel promises."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.kernels.reference.layout import plain
from treetop.types import CSR, Dense, Floats, Ids

__all__ = ["Searcher", "log_link", "margins_of", "pack", "score_level"]


MOST_SPREAD = 1024
"""With more children than this under one parent, only full rows are broad."""


def is_broad(entries: int, children: int) -> bool:
    """Whether a row belongs to the first part of the sum: it is full, or at least an eighth of the children use it."""
    return entries == children or (children <= MOST_SPREAD and 8 * entries >= children)


def is_stored_in_full(entries: int, children: int) -> bool:
    """Whether a row is stored with its zeros: at least half of the children use it."""
    return entries == children or (children <= MOST_SPREAD and 2 * entries >= children)


def pack(
    weights: Any, children_ptr: NDArray[np.int64], children: Ids, *, kind: str = "float32"
) -> dict[str, NDArray[Any]]:
    """Weights of a level's nodes as one chunk per parent; see `kernels.pack` for the arrays."""
    scale = None
    if kind == "int8":
        weights, scale = _in_whole_numbers(weights)
    rows, entries = [0], [0]
    features: list[int] = []
    positions: list[int] = []
    values: list[float] = []
    dense: list[NDArray[Any]] = []
    for first, last in itertools.pairwise(children_ptr.tolist()):
        block = None if weights.sparse is None else weights.sparse[first:last].tocsc()
        for feature in range(0 if block is None else block.shape[1]):
            nodes, column = _column(block, feature)
            if nodes:
                features.append(feature)
                positions.extend(nodes)
                values.extend(column)
                entries.append(len(positions))
        rows.append(len(features))
        if weights.dense is not None:
            dense.append(weights.dense[first:last].T.ravel())
    columns, dims = (0 if block is None else block.shape[1] for block in (weights.sparse, weights.dense))
    packed: dict[str, NDArray[Any]] = {
        "row_ptr": np.array(rows, np.int64),
        "row_feature": np.array(features, np.int32),
        "entry_ptr": np.array(entries, np.int64),
        "entry_child": np.array(positions, _position_type(int(np.max(np.diff(children_ptr))))),
        "entry_value": np.array(values, np.float32).astype(kind),
        "bias": np.asarray(weights.bias, np.float32),
        "children_ptr": np.asarray(children_ptr, np.int64),
        "children": np.asarray(children, np.int32),
        "width": np.array([columns, dims], np.int64),
    }
    if weights.dense is not None:
        packed["dense"] = np.concatenate(dense).astype("float16" if kind == "int8" else kind)
    return packed if scale is None else packed | {"scale": scale}


def _position_type(children: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if children <= 256 else np.uint16 if children <= 65_535 else np.uint32


def _in_whole_numbers(weights: Any) -> tuple[Any, Floats]:
    """The weights of each node in steps of a 127th of its largest one, and these steps."""
    sparse, scale = weights.sparse, np.ones(len(weights.bias), np.float32)
    if sparse is not None:
        sparse = sparse.copy()
        for node, (first, last) in enumerate(itertools.pairwise(sparse.indptr.tolist())):
            largest = np.abs(sparse.data[first:last]).max(initial=0)
            if largest > 0:
                scale[node] = largest / np.float32(127)
                sparse.data[first:last] = np.rint(sparse.data[first:last] / scale[node])
    return SimpleNamespace(sparse=sparse, dense=weights.dense, bias=weights.bias), scale


def _column(block: Any, feature: int) -> tuple[list[int], list[float]]:
    """Children with a weight for the feature, and the weights; all children if most have one."""
    cut = slice(block.indptr[feature], block.indptr[feature + 1])
    weights = dict(zip(block.indices[cut].tolist(), block.data[cut].tolist(), strict=True))
    children = range(block.shape[0]) if weights and is_stored_in_full(len(weights), block.shape[0]) else sorted(weights)
    return list(children), [weights.get(child, 0.0) for child in children]


def margins_of(
    level: dict[str, NDArray[Any]], parent: int, features: Ids, values: Floats, dense: Floats | None
) -> Floats:
    """Margins of a parent's children: bias, broad rows in the order of the features, other rows, dense dims.

    With int8 weights the rows are summed first, and the bias is added to the scaled sum.
    """
    first, last = (int(at) for at in level["children_ptr"][parent : parent + 2])
    scale, bias = level.get("scale"), level["bias"][first:last]
    margins: Floats = bias.copy() if scale is None else np.zeros_like(bias)
    low, high = (int(at) for at in level["row_ptr"][parent : parent + 2])
    row_of = {int(feature): low + row for row, feature in enumerate(level["row_feature"][low:high])}
    for broad in (True, False):
        for feature, value in zip(features.tolist(), values, strict=True):
            row = row_of.get(feature)
            begin, end = (0, 0) if row is None else (int(at) for at in level["entry_ptr"][row : row + 2])
            if begin < end and is_broad(end - begin, last - first) == broad:
                weights = level["entry_value"][begin:end].astype(np.float32)
                margins[level["entry_child"][begin:end]] += value * weights
    if scale is not None:
        margins = bias + scale[first:last] * margins
    if dense is not None:
        dims = len(dense)
        matrix = level["dense"][first * dims : last * dims].reshape(dims, last - first).astype(np.float32)
        for value, weights in zip(dense, matrix, strict=True):
            margins += value * weights
    return margins


def log_link(link: str, margin: np.float32) -> np.float32:
    """The logarithm of the link, or the margin itself for noop; every step in float32."""
    one, zero = np.float32(1), np.float32(0)
    if link == "noop":
        return margin
    if link == "sigmoid":
        return np.float32(min(margin, zero) - _log_one_plus(_exp(max(-abs(margin), np.float32(-87)))))
    gap = max(one - margin, zero)
    power = gap
    for _ in range(int(link[1]) - 1):
        power = power * gap
    return np.float32(-power)


def _exp(x: np.float32) -> np.float32:
    """exp(x) of x in [-87, 0] as 2^n e^r, with the Taylor series of e^r."""
    shift = np.float32(12582912)  # 1.5 * 2^23: adding it rounds to an integer
    n = (x * np.float32(1.44269504) + shift) - shift
    r = (x - n * np.float32(0.693359375)) - n * np.float32(-2.12194440e-4)
    series = np.float32(0)
    for order in range(7, -1, -1):
        series = series * r + np.float32(1 / math.factorial(order))
    return series * np.float32(2.0 ** int(n))


def _log_one_plus(t: np.float32) -> np.float32:
    """log(1 + t) of t in [0, 1] as 2 atanh(t / (2 + t)), with the Taylor series of atanh."""
    s = t / (np.float32(2) + t)
    series = np.float32(0)
    for order in range(15, 0, -2):
        series = series * (s * s) + np.float32(1 / order)
    return (s + s) * series


def _score_children(
    level: dict[str, NDArray[Any]],
    parents: list[tuple[float, int]],
    text: tuple[Ids, Floats, Floats | None],
    link: str,
    add_path: bool,
    allowed: NDArray[np.bool_] | None,
) -> list[tuple[float, float, int]]:
    """(score, margin, node) of all allowed children of (score, parent) pairs, best first."""
    found = []
    for above, parent in parents:
        nodes = level["children"][level["children_ptr"][parent] : level["children_ptr"][parent + 1]]
        for node, margin in zip(nodes.tolist(), margins_of(level, parent, *text), strict=True):
            if allowed is not None and not allowed[node]:
                continue
            score = log_link(link, margin) + (np.float32(above) if add_path else np.float32(0))
            found.append((float(score), float(margin), node))
    return sorted(found, key=lambda one: (-one[0], -one[1], one[2]))


def _texts(sparse: CSR | None, dense: Dense | None) -> list[tuple[Ids, Floats, Floats | None]]:
    count = dense.shape[0] if sparse is None and dense is not None else 0 if sparse is None else sparse.shape[0]
    rows = []
    for i in range(count):
        cut = slice(0, 0) if sparse is None else slice(sparse.indptr[i], sparse.indptr[i + 1])
        features = np.empty(0, np.int32) if sparse is None else sparse.indices[cut]
        values = np.empty(0, np.float32) if sparse is None else sparse.data[cut]
        rows.append((features, values, None if dense is None else dense[i]))
    return rows


class Searcher:
    """The twin of `kernels.Searcher`."""

    def __init__(self, levels: Sequence[dict[str, NDArray[Any]]]) -> None:
        self.levels = [plain(level) for level in levels]

    def search(
        self,
        sparse: CSR | None,
        dense: Dense | None,
        *,
        beams: Sequence[int],
        k: int,
        link: str = "l3-hinge",
        combine: str = "multiply",
        leaf_link: str | None = None,
        allowed: Sequence[NDArray[np.bool_]] | None = None,
        threads: int = 1,  # noqa: ARG002
    ) -> tuple[Ids, Floats]:
        """The k best labels of each text and their scores."""
        texts = _texts(sparse, dense)
        leaf = leaf_link or link
        masks = [None] * len(self.levels) if allowed is None else allowed
        labels = np.full((len(texts), k), -1, np.int32)
        scores = np.full((len(texts), k), -np.inf if leaf == "noop" else 0.0, np.float32)
        for i, text in enumerate(texts):
            kept = [(0.0, 0)]
            for level, beam, mask in zip(self.levels[:-1], beams, masks[:-1], strict=True):
                found = _score_children(level, kept, text, link, link != "noop", mask)
                kept = [(score, node) for score, _, node in found[:beam]]
            for rank, (score, _, label) in enumerate(
                _score_children(self.levels[-1], kept, text, leaf, combine == "multiply", masks[-1])[:k]
            ):
                labels[i, rank] = label
                scores[i, rank] = score if leaf == "noop" else math.exp(score)
        return labels, scores


def score_level(
    level: dict[str, NDArray[Any]],
    sparse: CSR | None,
    dense: Dense | None,
    shortlist: CSR | None,
    *,
    link: str = "l3-hinge",
    combine: str = "multiply",
    nodes: int,
    allowed: NDArray[np.bool_] | None = None,
    keep: int = 0,
    log: bool = False,
) -> NDArray[np.float64]:
    """The twin of `kernels.score_level` as a dense matrix; NaN where a node is not scored."""
    texts, level = _texts(sparse, dense), plain(level)
    result = np.full((len(texts), nodes), np.nan)
    for i, text in enumerate(texts):
        parents = [(0.0, 0)]
        if shortlist is not None:
            cut = slice(shortlist.indptr[i], shortlist.indptr[i + 1])
            above = shortlist.data[cut] if log else np.log(shortlist.data[cut])
            parents = list(zip(above.tolist(), shortlist.indices[cut].tolist(), strict=True))
        found = _score_children(level, parents, text, link, combine == "multiply", allowed)
        for score, _, node in found[: keep or None]:
            result[i, node] = score if log or link == "noop" else math.exp(score)
    return result

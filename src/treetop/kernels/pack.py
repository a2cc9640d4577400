"""Packing: the weights of one level's nodes, rearranged for search.

One chunk per parent p. Its rows are the features that any child of p uses, sorted; a row lists (child, weight), the
child as its position among the children of p. A text's features then find the weights of all children at once.

    row_ptr[p] .. row_ptr[p+1]          rows of chunk p
    row_feature[r]                      the feature of row r
    entry_ptr[r] .. entry_ptr[r+1]      entries of row r
    entry_child[e], entry_value[e]      position of the child, weight (float32 or float16)
    children_ptr[p] .. children_ptr[p+1], children, bias
    dense                               chunk after chunk, each dims × children, if there is a dense block
    width                               sparse features, dense dims: what the texts must look like

A row that at least half of the children use is stored in full, zeros included, so that it is added as whole vectors.
The arrays are stored as they are and searched where they are mapped (Etter et al., Accelerating inference for sparse
extreme multi-label ranking trees, WWW 2022).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop.errors import DataError
from treetop.kernels import _native
from treetop.kernels.rows import csr_of, offsets_of
from treetop.kernels.train import NodeWeights
from treetop.types import CSR, Dense, Floats, Ids

__all__ = ["OFFSETS", "Packed", "WeightType", "Weights", "concat_packed", "pack", "unpack", "weights_of_child"]

Packed: TypeAlias = dict[str, NDArray[Any]]
"""The arrays of one level."""

WeightType: TypeAlias = Literal["float32", "float16"]
"""How a stored weight looks; sums are float32 in any case."""

OFFSETS = ("row_ptr", "entry_ptr", "children_ptr")
"""Arrays that say where others are cut: in a run that follows another one they go on where that ended."""

_NARROW = 65_535  # Most children of a parent whose positions fit into 16 bits.


class Weights(Protocol):
    """Weights of a level's nodes, one row per node in the order of `children`; `train_nodes` makes them."""

    @property
    def sparse(self) -> CSR | None:
        """Nodes × features."""

    @property
    def dense(self) -> Dense | None:
        """Nodes × dims."""

    @property
    def bias(self) -> Floats:
        """One per node."""


def pack(
    weights: Weights, children_ptr: NDArray[np.int64], children: Ids, *, kind: WeightType = "float32", threads: int = 1
) -> Packed:
    """Pack the weights of the children of some parents; `Runs` puts runs of parents together.

    `children_ptr[p] .. children_ptr[p+1]` are the rows of the weights that belong to parent p, `children` their node
    ids (label ids at the last level).
    """
    half = kind == "float16"
    children_ptr = np.ascontiguousarray(children_ptr, np.int64)
    children = np.ascontiguousarray(children, np.int32)
    bias = np.ascontiguousarray(weights.bias, np.float32)
    _check(weights, bias, children_ptr, children, half)
    packed = _pack_sparse(weights.sparse, children_ptr, half=half, threads=threads)
    packed |= {"bias": bias, "children_ptr": children_ptr, "children": children}
    columns = 0 if weights.sparse is None else weights.sparse.shape[1]
    dims = 0 if weights.dense is None else weights.dense.shape[1]
    if weights.dense is not None:
        dense = np.ascontiguousarray(weights.dense, np.float32)
        packed["dense"] = _as_stored(_native.pack_dense(dense, children_ptr, half, threads))
    packed["width"] = np.array([columns, dims], np.int64)
    return packed


def concat_packed(several: Sequence[Packed]) -> Packed:
    """One level from packed runs of its parents, in their order."""
    if not several:
        raise DataError("nothing to concatenate: give at least one packed run of parents")
    if len(several) == 1:
        return several[0]
    if len({tuple(run["width"]) for run in several}) > 1:
        raise DataError(f"runs of one level differ in width: {sorted({tuple(run['width']) for run in several})}")
    joined = {name: _concat_offsets([run[name] for run in several]) for name in OFFSETS}
    names = set(several[0]) - set(OFFSETS) - {"width"}
    joined |= {name: np.concatenate([run[name] for run in several]) for name in names}
    return joined | {"width": several[0]["width"]}


def unpack(packed: Packed, first: int, last: int) -> NodeWeights:
    """The weights of the children of parents [first, last) as they were packed, without the zeros of full rows."""
    low, high = (int(at) for at in packed["children_ptr"][[first, last]])
    rows = slice(*(int(at) for at in packed["row_ptr"][[first, last]]))
    ends = packed["entry_ptr"][rows.start : rows.stop + 1]
    entries = slice(int(ends[0]), int(ends[-1]))
    features = np.repeat(packed["row_feature"][rows], np.diff(ends))
    parents = np.repeat(np.arange(first, last), np.diff(packed["row_ptr"][first : last + 1]))
    nodes = np.repeat(packed["children_ptr"][parents] - low, np.diff(ends)) + packed["entry_child"][entries]
    values = packed["entry_value"][entries].astype(np.float32)
    order = np.lexsort((features, nodes))
    order = order[values[order] != 0]
    start = np.concatenate([[0], np.cumsum(np.bincount(nodes[order], minlength=high - low))])
    columns, dims = (int(size) for size in packed["width"])
    sparse = csr_of(start, features[order], values[order], columns=columns)
    dense = _unpack_dense(packed, first, last, dims) if dims else None
    return NodeWeights(sparse=sparse, dense=dense, bias=packed["bias"][low:high])


def weights_of_child(packed: Packed, parent: int, place: int, features: Ids) -> tuple[Floats, Floats | None]:
    """Weights of the child at a place among those of a parent: for some features, and for the dense dims if any.

    Only the rows of those features are read, so it costs about what scoring one text with them costs.
    """
    first, last = (int(at) for at in packed["row_ptr"][parent : parent + 2])
    known = packed["row_feature"][first:last]
    rows = np.searchsorted(known, features)
    there = np.flatnonzero(rows < len(known))
    there = there[known[rows[there]] == features[there]]
    begin = packed["entry_ptr"][first + rows[there]]
    sizes = packed["entry_ptr"][first + rows[there] + 1] - begin
    ends = np.cumsum(sizes)
    entries = np.repeat(begin - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)
    own = np.flatnonzero(packed["entry_child"][entries] == place)
    weights = np.zeros(len(features), np.float32)
    weights[there[np.searchsorted(ends, own, "right")]] = packed["entry_value"][entries[own]]
    return weights, _dense_of_child(packed, parent, place)


def _dense_of_child(packed: Packed, parent: int, place: int) -> Floats | None:
    dims = int(packed["width"][1])
    if not dims:
        return None
    low, high = (int(at) * dims for at in packed["children_ptr"][parent : parent + 2])
    return packed["dense"][low:high].reshape(dims, -1)[:, place].astype(np.float32)


def _unpack_dense(packed: Packed, first: int, last: int, dims: int) -> Dense:
    bounds = packed["children_ptr"][first : last + 1].tolist()
    chunks = [packed["dense"][low * dims : high * dims].reshape(dims, -1).T for low, high in itertools.pairwise(bounds)]
    return np.concatenate(chunks).astype(np.float32)


def _pack_sparse(sparse: CSR | None, children_ptr: NDArray[np.int64], *, half: bool, threads: int) -> Packed:
    rows = int(children_ptr[-1])
    wide = bool(np.max(np.diff(children_ptr), initial=0) > _NARROW)
    if sparse is None:
        indptr, indices, data, columns = np.zeros(rows + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32), 0
    else:
        indptr = offsets_of(sparse)
        indices = np.ascontiguousarray(sparse.indices, np.int32)
        data = np.ascontiguousarray(sparse.data, np.float32)
        columns = sparse.shape[1]
    arrays = _native.pack_sparse(indptr, indices, data, columns, children_ptr, wide, half, threads)
    names = ("row_ptr", "row_feature", "entry_ptr", "entry_child", "entry_value")
    packed: Packed = dict(zip(names, arrays, strict=True))
    if half:
        packed["entry_value"] = packed["entry_value"].view(np.float16)
    return packed


def _as_stored(dense: NDArray[Any]) -> NDArray[Any]:
    return dense.view(np.float16) if dense.dtype == np.uint16 else dense


def _concat_offsets(offsets: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    ends = np.cumsum([0] + [int(part[-1]) for part in offsets])
    shifted = [part[:-1] + start for part, start in zip(offsets, ends[:-1], strict=True)]
    return np.concatenate([*shifted, ends[-1:]]).astype(np.int64)


def _check(weights: Weights, bias: Floats, children_ptr: NDArray[np.int64], children: Ids, half: bool) -> None:
    nodes = len(children)
    if len(children_ptr) < 2 or children_ptr[0] != 0 or children_ptr[-1] != nodes or np.any(np.diff(children_ptr) < 0):
        raise DataError(f"children_ptr must rise from 0 to the number of children, {nodes}; it is {children_ptr}")
    for name, block in (("sparse", weights.sparse), ("dense", weights.dense), ("bias", bias)):
        if block is not None and block.shape[0] != nodes:
            raise DataError(f"{name} weights have {block.shape[0]} rows for {nodes} children")
    if weights.sparse is None and weights.dense is None:
        raise DataError("no weights: give sparse weights, dense weights, or both")
    values = [bias] + [
        w for w in (weights.dense, None if weights.sparse is None else weights.sparse.data) if w is not None
    ]
    for block in values:
        if not _native.storable(np.ascontiguousarray(block, np.float32), half and block is not bias):
            limit = "beyond 65504, the largest float16" if half else "infinite or not a number"
            raise DataError(f"a weight is {limit}; scale the features, or store float32")

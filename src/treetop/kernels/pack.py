"""Packing: the weights of one level's nodes, rearranged for search.

One chunk per parent p. Its rows are the features that any child of p uses, sorted; a row lists (child, weight), the
child as its position among the children of p. A text's features then find the weights of all children at once.

    row_ptr[p] .. row_ptr[p+1]          rows of chunk p
    row_feature[r]                      the feature of row r
    entry_ptr[r] .. entry_ptr[r+1]      entries of row r
    entry_child[e], entry_value[e]      position of the child, weight (float32, float16 or int8)
    scale[n]                            with int8: what the weights of a node are multiplied by
    children_ptr[p] .. children_ptr[p+1], children, bias
    dense                               chunk after chunk, each dims × children, if there is a dense block
    width                               sparse features, dense dims: what the texts must look like

A row that at least half of the children use is stored in full, zeros included, so that it is added as whole vectors.
These are runs of parents; `Runs` makes a level of them and stores its numbers as narrowly as it can (`layout`). It is
searched where it is mapped (Etter et al., Accelerating inference for sparse extreme multi-label ranking trees, WWW
2022).
"""

from __future__ import annotations

import itertools
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop.errors import DataError
from treetop.kernels import _native
from treetop.kernels.layout import Packed, entry_starts, features_of, row_bounds
from treetop.kernels.rows import csr_of, offsets_of
from treetop.kernels.train import NodeWeights
from treetop.types import CSR, Dense, Floats, Ids

__all__ = ["WeightType", "Weights", "pack", "unpack", "weights_of_child"]

WeightType: TypeAlias = Literal["float32", "float16", "int8"]
"""How a stored weight looks; sums are float32 in any case. With int8 a node has a scale, and a dense block float16."""

_FEW, _NARROW = 256, 65_535  # Most children of a parent whose positions fit into 8 and into 16 bits.
_LARGEST_BYTE = 127


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
    children_ptr = np.ascontiguousarray(children_ptr, np.int64)
    children = np.ascontiguousarray(children, np.int32)
    bias = np.ascontiguousarray(weights.bias, np.float32)
    half = kind != "float32"
    _check(weights, bias, children_ptr, children, kind)
    sparse, scale = _as_bytes(weights.sparse, len(children)) if kind == "int8" else (weights.sparse, None)
    packed = _pack_sparse(sparse, children_ptr, half=kind == "float16", threads=threads)
    packed |= {"bias": bias, "children_ptr": children_ptr, "children": children}
    if scale is not None:
        packed |= {"entry_value": packed["entry_value"].astype(np.int8), "scale": scale}
    columns = 0 if weights.sparse is None else weights.sparse.shape[1]
    dims = 0 if weights.dense is None else weights.dense.shape[1]
    if weights.dense is not None:
        dense = np.ascontiguousarray(weights.dense, np.float32)
        packed["dense"] = _as_stored(_native.pack_dense(dense, children_ptr, half, threads))
    packed["width"] = np.array([columns, dims], np.int64)
    return packed


def unpack(packed: Packed, first: int, last: int) -> NodeWeights:
    """The weights of the children of parents [first, last) as they were packed, without the zeros of full rows."""
    low, high = (int(at) for at in packed["children_ptr"][[first, last]])
    bounds = row_bounds(packed, first, last)
    ends = entry_starts(packed, np.arange(bounds[0], bounds[-1] + 1))
    entries = slice(int(ends[0]), int(ends[-1]))
    features = np.repeat(features_of(packed, first, last), np.diff(ends))
    parents = np.repeat(np.arange(first, last), np.diff(bounds))
    nodes = np.repeat(packed["children_ptr"][parents] - low, np.diff(ends)) + packed["entry_child"][entries]
    values = packed["entry_value"][entries].astype(np.float32)
    if "scale" in packed:
        values *= packed["scale"][low + nodes]
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
    known = features_of(packed, parent, parent + 1)
    rows = np.searchsorted(known, features)
    there = np.flatnonzero(rows < len(known))
    there = there[known[rows[there]] == features[there]]
    found = int(row_bounds(packed, parent, parent)[0]) + rows[there]
    begin = entry_starts(packed, found)
    sizes = entry_starts(packed, found + 1) - begin
    ends = np.cumsum(sizes)
    entries = np.repeat(begin - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)
    own = np.flatnonzero(packed["entry_child"][entries] == place)
    weights = np.zeros(len(features), np.float32)
    weights[there[np.searchsorted(ends, own, "right")]] = packed["entry_value"][entries[own]]
    if "scale" in packed:
        weights *= packed["scale"][packed["children_ptr"][parent] + place]
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
    most = int(np.max(np.diff(children_ptr), initial=0))
    if sparse is None:
        indptr, indices, data, columns = np.zeros(rows + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32), 0
    else:
        indptr = offsets_of(sparse)
        indices = np.ascontiguousarray(sparse.indices, np.int32)
        data = np.ascontiguousarray(sparse.data, np.float32)
        columns = sparse.shape[1]
    arrays = _native.pack_sparse(indptr, indices, data, columns, children_ptr, most > _NARROW, half, threads)
    names = ("row_ptr", "row_feature", "entry_ptr", "entry_child", "entry_value")
    packed: Packed = dict(zip(names, arrays, strict=True))
    if most <= _FEW:
        packed["entry_child"] = packed["entry_child"].astype(np.uint8)
    packed["entry_value"] = _as_stored(packed["entry_value"])
    return packed


def _as_bytes(sparse: CSR | None, nodes: int) -> tuple[CSR | None, Floats]:
    """Weights as whole numbers up to 127, and what each row is to be multiplied by."""
    if sparse is None:
        return None, np.ones(nodes, np.float32)
    sizes, starts = np.diff(sparse.indptr), sparse.indptr[:-1]
    largest = np.zeros(nodes, np.float32)
    filled = sizes > 0
    largest[filled] = np.maximum.reduceat(np.abs(sparse.data), starts[filled]) if filled.any() else 0
    scale = np.where(largest > 0, largest / np.float32(_LARGEST_BYTE), np.float32(1)).astype(np.float32)
    values = np.rint(sparse.data / np.repeat(scale, sizes)).clip(-_LARGEST_BYTE, _LARGEST_BYTE).astype(np.float32)
    return CSR((values, sparse.indices, sparse.indptr), shape=sparse.shape), scale


def _as_stored(values: NDArray[Any]) -> NDArray[Any]:
    return values.view(np.float16) if values.dtype == np.uint16 else values


def _check(weights: Weights, bias: Floats, children_ptr: NDArray[np.int64], children: Ids, kind: str) -> None:
    nodes = len(children)
    if len(children_ptr) < 2 or children_ptr[0] != 0 or children_ptr[-1] != nodes or np.any(np.diff(children_ptr) < 0):
        raise DataError(f"children_ptr must rise from 0 to the number of children, {nodes}; it is {children_ptr}")
    for name, block in (("sparse", weights.sparse), ("dense", weights.dense), ("bias", bias)):
        if block is not None and block.shape[0] != nodes:
            raise DataError(f"{name} weights have {block.shape[0]} rows for {nodes} children")
    if weights.sparse is None and weights.dense is None:
        raise DataError("no weights: give sparse weights, dense weights, or both")
    sparse = None if weights.sparse is None else weights.sparse.data
    for block, half in ((bias, False), (sparse, kind == "float16"), (weights.dense, kind != "float32")):
        if block is not None and not _native.storable(np.ascontiguousarray(block, np.float32), half):
            limit = "beyond 65504, the largest float16" if half else "infinite or not a number"
            raise DataError(f"a weight is {limit}; scale the features, or store float32")

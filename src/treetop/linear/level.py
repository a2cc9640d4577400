"""One level of a label tree as linear classifiers: a weight vector per node, trained and applied parent by parent.

For a node j with parent p, over the texts i that compete at p,

    min_w  ½|w|² + Σ_i C_i · loss(y_i · w·[x_i, bias])        loss: max(0, 1-m)² or log(1 + exp(-m))

where C_i is `c_positive` times the text's relevance to j if j is true for it, else `c_negative`. A positive text always
takes part in its node's problem, whether or not the shortlist holds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treetop import kernels
from treetop.errors import ConfigError, DataError
from treetop.labels import LabelTree
from treetop.runtime import Runtime
from treetop.sparse import AnyFeatures, Joined, canonical
from treetop.store import Folder
from treetop.types import CSR, Dense, Floats

__all__ = ["LinearLevel", "SolverConfig", "blocks_of"]

_NODES_AT_ONCE = 16_384  # Trained before packing: bounds the unpacked weights that are in memory at one time.


@dataclass(frozen=True, kw_only=True, slots=True)
class SolverConfig:
    """How a node's weights are found."""

    loss: Literal["squared_hinge", "logistic"] = "squared_hinge"
    """What a wrong margin costs."""
    c_positive: float = 1.0
    """Cost of an error on a positive text."""
    c_negative: float = 1.0
    """Cost of an error on a negative text (α in XR-Transformer)."""
    bias: float = 1.0
    """Value of the constant feature; 0 for none."""
    eps: float = 0.1
    """Stop when the spread of projected gradients is below this."""
    max_iter: int = 100
    """Passes over a node's texts, at most."""
    threshold: float = 0.1
    """Weights smaller than this in size are dropped."""
    max_weights: int = 0
    """Weights kept per node, the largest first; 0 keeps all."""

    def __post_init__(self) -> None:
        for name in ("c_positive", "c_negative", "eps"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"solver.{name} is {getattr(self, name)}; it must be positive")
        for name in ("bias", "threshold", "max_weights"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"solver.{name} is {getattr(self, name)}; it must not be negative")
        if self.max_iter < 1:
            raise ConfigError(f"solver.max_iter is {self.max_iter}; it must be at least 1")


class LinearLevel:
    """The trained classifiers of one level, packed for search; `arrays` are stored and mapped as they are."""

    def __init__(self, arrays: dict[str, NDArray[Any]], *, parents: int, nodes: int, file: Path | None = None) -> None:
        self.arrays = arrays
        self.parents = parents
        self.nodes = nodes
        self.file = file
        """What the arrays are mapped from, if they are."""

    @classmethod
    def fit(
        cls,
        features: AnyFeatures,
        true: CSR,
        shortlist: CSR,
        tree: LabelTree,
        level: int,
        config: SolverConfig,
        *,
        costs: bool = False,
        half: bool = False,
        runtime: Runtime | None = None,
    ) -> LinearLevel:
        """Train the nodes of `level`.

        `true` (texts × nodes) says which nodes are right, and with `costs` its values are what an error on them costs.
        `shortlist` (texts × parents) says who competes where. `half` keeps the weights in 16 bits.
        """
        runtime = runtime or Runtime()
        starts, nodes = tree.children(level)
        competing, positive = canonical(shortlist.T), canonical(true.T)[nodes]
        _check_sizes(features, true, shortlist, starts, nodes)
        packed = []
        with runtime.bar(f"train level {level}", int(np.count_nonzero(np.diff(positive.indptr)))) as advance:
            for first, last in blocks_of(starts, _NODES_AT_ONCE):
                low, high = int(starts[first]), int(starts[last])
                weights = kernels.train_nodes(
                    sparse=sparse_block(features),
                    dense=dense_block(features),
                    children_ptr=starts[first : last + 1] - low,
                    children=nodes[low:high],
                    compete_ptr=_offsets(competing, first, last),
                    compete=_columns(competing, first, last),
                    positive_ptr=_offsets(positive, low, high),
                    positive=_columns(positive, low, high),
                    positive_cost=_values(positive, low, high) if costs else None,
                    loss=config.loss,
                    c_positive=config.c_positive,
                    c_negative=config.c_negative,
                    bias=config.bias,
                    eps=config.eps,
                    max_iter=config.max_iter,
                    threshold=config.threshold,
                    max_weights=config.max_weights,
                    seed=runtime.seed,
                    threads=runtime.cores,
                    progress=advance,
                )
                packed.append(
                    kernels.pack(
                        weights, starts[first : last + 1] - low, nodes[low:high], half=half, threads=runtime.cores
                    )
                )
        return cls(kernels.concat_packed(packed), parents=len(starts) - 1, nodes=len(nodes))

    def save(self, folder: Folder, name: str) -> None:
        """Write the packed arrays."""
        folder.write_tensors(f"{name}.safetensors", self.arrays)

    @classmethod
    def load(cls, folder: Folder, name: str) -> LinearLevel:
        """Map the packed arrays; a StoreError if they cannot be what `save` wrote."""
        file = folder.path / f"{name}.safetensors"
        arrays = folder.read_tensors(file.name)
        kernels.check_level(arrays, file=file)
        return cls(arrays, parents=len(arrays["children_ptr"]) - 1, nodes=len(arrays["children"]), file=file)


def sparse_block(features: AnyFeatures) -> CSR | None:
    """The sparse part of the features, if any."""
    if isinstance(features, Joined):
        return features.sparse
    return None if isinstance(features, np.ndarray) else features


def dense_block(features: AnyFeatures) -> Dense | None:
    """The dense part of the features, if any."""
    if isinstance(features, Joined):
        return features.dense
    return features if isinstance(features, np.ndarray) else None


def blocks_of(starts: NDArray[np.int64], size: int) -> list[tuple[int, int]]:
    """Runs of parents [first, last) with about `size` children each."""
    blocks, first = [], 0
    parents = len(starts) - 1
    while first < parents:
        last = int(np.searchsorted(starts, starts[first] + size, "right")) - 1
        last = min(max(last, first + 1), parents)
        blocks.append((first, last))
        first = last
    return blocks


def _check_sizes(
    features: AnyFeatures, true: CSR, shortlist: CSR, starts: NDArray[np.int64], nodes: NDArray[np.int32]
) -> None:
    texts = features.shape[0]
    if true.shape != (texts, len(nodes)) or shortlist.shape != (texts, len(starts) - 1):
        raise DataError(
            f"features of {texts} texts do not fit true nodes of shape {true.shape} and a shortlist of shape "
            f"{shortlist.shape} for a level of {len(nodes)} nodes under {len(starts) - 1} parents"
        )


def _offsets(matrix: CSR, first: int, last: int) -> NDArray[np.int64]:
    return np.asarray(matrix.indptr[first : last + 1] - matrix.indptr[first], np.int64)


def _columns(matrix: CSR, first: int, last: int) -> NDArray[np.int32]:
    return matrix.indices[matrix.indptr[first] : matrix.indptr[last]]


def _values(matrix: CSR, first: int, last: int) -> Floats:
    return matrix.data[matrix.indptr[first] : matrix.indptr[last]]

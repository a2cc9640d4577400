"""One level of a label tree as linear classifiers: a weight vector per node, trained and applied parent by parent.

For a node j with parent p, over the texts i shortlisted at p,

    min_w  ½|w|² + Σ_i C_i · loss(y_i · w·[x_i, bias])        loss: max(0, 1-m)² or log(1 + exp(-m))

where C_i is `c_positive` times the text's relevance to j if j is true for it, else `c_negative`. A positive text always
takes part in its node's problem, whether or not the shortlist holds it.

This is the one door to the kernels that train and apply linear classifiers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treetop import kernels
from treetop.errors import ConfigError, DataError
from treetop.kernels import Combine, Link, Mask, NodeWeights, WeightType
from treetop.labels.tree import children_of
from treetop.pieces import Piece, runs_of
from treetop.runtime import Runtime
from treetop.sparse import AnyFeatures, canonical, dense_block, from_parts, sparse_block
from treetop.store import Folder
from treetop.types import CSR, Floats, Ids
from treetop.version import __version__

__all__ = ["LinearLevel", "NodeMargin", "SolverConfig", "everyone"]

Doubles: TypeAlias = NDArray[np.float64]

_NO_IDS, _NOTHING = np.empty(0, np.int32), np.empty(0, np.float32)
_NODES_AT_ONCE = 16_384  # Trained before packing: bounds the unpacked weights that are in memory at one time.
_NODES_ELSEWHERE = 2048  # The same where others train them: many more pieces than workers, whoever they are.


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


class NodeMargin(NamedTuple):
    """The margin of a node for one text, taken apart: terms.sum() + dense.sum() + bias."""

    terms: Doubles
    """What each stored entry of the sparse row adds, in its order."""
    dense: Doubles
    """What each dense number adds; empty without a dense block."""
    weights: Floats
    """The weights of the dense numbers."""
    bias: float


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
        shortlist: CSR | None,
        parents: Ids,
        config: SolverConfig,
        *,
        costs: bool = False,
        weights: WeightType = "float32",
        runtime: Runtime | None = None,
        title: str = "train",
    ) -> LinearLevel:
        """Train a classifier for every node; `parents[node]` is its parent, `tree.parents[level]` of a label tree.

        `true` (texts × nodes) says which nodes are right, and with `costs` its values are what an error on them costs.
        `shortlist` (texts × parents) says which texts the children of a parent learn from; without it from all texts.
        `weights` is how they are stored. The result does not depend on the number of threads.
        """
        runtime = runtime or Runtime()
        shortlist = everyone(features.shape[0], int(parents.max()) + 1) if shortlist is None else shortlist
        _check_sizes(features, true, shortlist, parents)
        training = _Training(features, true, shortlist, parents, config, costs=costs, kind=weights, seed=runtime.seed)
        runs = kernels.Runs(runtime.scratch)
        for run in runtime.map(title, training, training.pieces(runtime.workers is not None)):
            runs.add(run)
        return cls(runs.finish(), parents=shortlist.shape[1], nodes=len(parents))

    def score(
        self,
        features: AnyFeatures,
        shortlist: CSR | None,
        *,
        link: Link = "l3-hinge",
        combine: Combine = "multiply",
        keep: int = 0,
        allowed: Mask | None = None,
        log: bool = False,
        runtime: Runtime | None = None,
    ) -> CSR:
        """Scores of the children of each text's shortlisted parents (texts × nodes), as one step of a search.

        `shortlist` (texts × parents) holds the parents' scores, None means the root; "multiply" multiplies them in,
        "last" looks at the pattern only. `keep` cuts to the best so many nodes of each text (0: all), `allowed` leaves
        out the others. With `log`, scores come and go as logarithms, which never underflow.
        """
        return kernels.score_level(
            self.arrays, sparse_block(features), dense_block(features), shortlist, link=link, combine=combine,
            keep=keep, allowed=allowed, log=log, nodes=self.nodes, threads=(runtime or Runtime()).cores, file=self.file,
        )  # fmt: skip

    @property
    def weights(self) -> int:
        """Sparse weights kept, of all nodes."""
        return int(np.count_nonzero(self.arrays["entry_value"]))

    def weights_of(self, node: int) -> tuple[Ids, Floats, float]:
        """Features of a node, their weights and the bias, exactly as they are stored.

        A dense block's columns come after the sparse ones, as in `Joined`.
        """
        parent, at = self._place_of(node)
        found = kernels.unpack(self.arrays, parent, parent + 1)
        cut = slice(found.sparse.indptr[at], found.sparse.indptr[at + 1])
        features, values = found.sparse.indices[cut], found.sparse.data[cut]
        if found.dense is not None:
            behind = found.sparse.shape[1] + np.arange(found.dense.shape[1], dtype=np.int32)
            features, values = np.append(features, behind), np.append(values, found.dense[at])
        return features, values, float(found.bias[at])

    def margin_of(self, node: int, features: AnyFeatures, parent: int | None = None) -> NodeMargin:
        """The margin of a node for the first of some texts, and what each of its features adds.

        Who knows its parent spares the look for it.
        """
        sparse, dense = sparse_block(features), dense_block(features)
        row = slice(0, 0 if sparse is None else int(sparse.indptr[1]))
        columns, values = (_NO_IDS, _NOTHING) if sparse is None else (sparse.indices[row], sparse.data[row])
        parent, at = self._place_of(node, parent)
        weights, of_dense = kernels.weights_of_child(self.arrays, parent, at, columns)
        of_dense = _NOTHING if of_dense is None else of_dense
        numbers = _NOTHING if dense is None else dense[0]
        bias = float(self.arrays["bias"][self.arrays["children_ptr"][parent] + at])
        return NodeMargin(values.astype(np.float64) * weights, numbers.astype(np.float64) * of_dense, of_dense, bias)

    def _place_of(self, node: int, parent: int | None = None) -> tuple[int, int]:
        """The parent of a node, and its place among the children."""
        starts = self.arrays["children_ptr"]
        first, last = (0, None) if parent is None else starts[parent : parent + 2]
        place = first + np.flatnonzero(self.arrays["children"][first:last] == node)
        if not place.size:
            raise DataError(f"there is no node {node}; the level has nodes 0 to {self.nodes - 1}")
        above = int(np.searchsorted(starts, place[0], "right")) - 1
        return above, int(place[0] - starts[above])

    def all_weights(self) -> NodeWeights:
        """The weights of all nodes as matrices, a row for each in the order of their numbers."""
        found, places = kernels.unpack(self.arrays, 0, self.parents), np.argsort(self.arrays["children"])
        dense = None if found.dense is None else found.dense[places]
        return NodeWeights(sparse=canonical(found.sparse[places]), dense=dense, bias=found.bias[places])

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


class _Training:
    """Who trains which nodes of a level, parent by parent; any run of parents gives the same weights as all at once."""

    def __init__(
        self,
        features: AnyFeatures,
        true: CSR,
        shortlist: CSR,
        parents: Ids,
        config: SolverConfig,
        *,
        costs: bool,
        kind: WeightType,
        seed: int,
    ) -> None:
        self.features = kernels.TrainingFeatures(sparse_block(features), dense_block(features))
        self.starts, self.nodes = children_of(parents, shortlist.shape[1])
        self.shortlisted, self.positive = canonical(shortlist.T), canonical(true.T)[self.nodes]
        self.config, self.costs, self.kind, self.seed = config, costs, kind, seed
        self.code = _code()
        self.cost = kernels.training_cost(self.starts, self.shortlisted.indptr, self.positive.indptr)

    def pieces(self, spread: bool) -> list[Piece[tuple[int, int]]]:
        """Runs of parents; smaller ones if they are spread over machines, which have to end at about the same time."""
        nodes = _NODES_ELSEWHERE if spread else _NODES_AT_ONCE
        return [self._piece(first, last) for first, last in runs_of(self.starts, nodes)]

    def _piece(self, first: int, last: int) -> Piece[tuple[int, int]]:
        low, high = int(self.starts[first]), int(self.starts[last])
        positive, starts = _offsets(self.positive, low, high), self.starts[first : last + 1] - low
        cost = kernels.training_cost(starts, _offsets(self.shortlisted, first, last), positive)
        return Piece((first, last), steps=int(np.count_nonzero(np.diff(positive))), cost=cost)

    def __call__(self, run: tuple[int, int], threads: int, advance: Callable[[int], object]) -> kernels.Packed:
        """Train the children of a run of parents, and pack them."""
        if self.code != _code():
            raise ConfigError(
                f"this machine trains with {_code()} and the first one with {self.code}: results would differ; install "
                "one version of treetop everywhere, and set TREETOP_ISA to instructions that all of them have"
            )
        first, last = run
        low, high = int(self.starts[first]), int(self.starts[last])
        starts, nodes = self.starts[first : last + 1] - low, self.nodes[low:high]
        weights = kernels.train_nodes(
            self.features,
            children_ptr=starts,
            children=nodes,
            shortlisted_ptr=_offsets(self.shortlisted, first, last),
            shortlisted=_columns(self.shortlisted, first, last),
            positive_ptr=_offsets(self.positive, low, high),
            positive=_columns(self.positive, low, high),
            positive_cost=_values(self.positive, low, high) if self.costs else None,
            first_child=low,
            level_cost=self.cost,
            seed=self.seed,
            threads=threads,
            progress=advance,
            **asdict(self.config),
        )
        return kernels.pack(weights, starts, nodes, kind=self.kind, threads=threads)


def everyone(texts: int, parents: int = 1) -> CSR:
    """A shortlist that holds all parents for every text, with score one; by default only the root."""
    starts, columns = np.arange(texts + 1, dtype=np.int64) * parents, np.tile(np.arange(parents, dtype=np.int32), texts)
    return from_parts(starts, columns, None, columns=parents)


def _code() -> str:
    """What the bits of a result depend on, besides what it is made from."""
    return f"treetop {__version__} and {kernels.isa()} instructions"


def _check_sizes(features: AnyFeatures, true: CSR, shortlist: CSR, parents: Ids) -> None:
    texts = features.shape[0]
    if true.shape != (texts, len(parents)) or shortlist.shape[0] != texts or shortlist.shape[1] <= parents.max():
        raise DataError(
            f"features of {texts} texts do not fit true nodes of shape {true.shape} and a shortlist of shape "
            f"{shortlist.shape} for a level of {len(parents)} nodes under {int(parents.max()) + 1} parents"
        )


def _offsets(matrix: CSR, first: int, last: int) -> NDArray[np.int64]:
    return np.asarray(matrix.indptr[first : last + 1] - matrix.indptr[first], np.int64)


def _columns(matrix: CSR, first: int, last: int) -> NDArray[np.int32]:
    return matrix.indices[matrix.indptr[first] : matrix.indptr[last]]


def _values(matrix: CSR, first: int, last: int) -> Floats:
    return matrix.data[matrix.indptr[first] : matrix.indptr[last]]

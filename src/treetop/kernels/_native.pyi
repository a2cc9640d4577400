from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

def pifa(
    member_start: NDArray[np.int64],
    member_text: NDArray[np.int32],
    member_weight: NDArray[np.float32],
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    value: NDArray[np.float32],
    columns: int,
    normalise: bool,
    by_frequency: bool,
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]: ...
def top_k(
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    value: NDArray[np.float32],
    k: int,
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]: ...
def first_bad_row(start: NDArray[np.int64], column: NDArray[np.int32] | NDArray[np.int64], columns: int) -> int: ...
def squared_lengths(start: NDArray[np.int64], value: NDArray[np.float32], threads: int) -> NDArray[np.float64]: ...
def kmeans_tree(
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    value: NDArray[np.float32],
    columns: int,
    dense: NDArray[np.float32],
    depth: int,
    max_iter: int,
    tolerance: float,
    spherical: bool,
    seed: int,
    threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
def kmeans_split(
    start: NDArray[np.int64],
    column: NDArray[np.int32],
    value: NDArray[np.float32],
    columns: int,
    dense: NDArray[np.float32],
    order: NDArray[np.int32],
    bounds: NDArray[np.int64],
    ways: int,
    level: int,
    max_iter: int,
    tolerance: float,
    spherical: bool,
    seed: int,
    threads: int,
) -> NDArray[np.int32]: ...
def pack_sparse(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    columns: int,
    children_ptr: NDArray[np.int64],
    wide: bool,
    half: bool,
    threads: int,
) -> tuple[NDArray[Any], ...]: ...
def pack_dense(
    dense: NDArray[np.float32], children_ptr: NDArray[np.int64], half: bool, threads: int
) -> NDArray[Any]: ...
def storable(values: NDArray[np.float32], half: bool) -> bool: ...
def isa() -> str: ...
def train_nodes(
    *,
    indptr: NDArray[np.int64] | None,
    indices: NDArray[np.int32] | None,
    data: NDArray[np.float32] | None,
    columns: int,
    dense: NDArray[np.float32] | None,
    children_ptr: NDArray[np.int64],
    shortlisted_ptr: NDArray[np.int64],
    shortlisted: NDArray[np.int32],
    positive_ptr: NDArray[np.int64],
    positive: NDArray[np.int32],
    positive_cost: NDArray[np.float32] | None,
    negative_cost: NDArray[np.float32] | None,
    loss: str,
    c_positive: float,
    c_negative: float,
    bias: float,
    eps: float,
    max_iter: int,
    threshold: float,
    max_weights: int,
    seed: int,
    first_child: int,
    level_cost: float,
    threads: int,
    progress: Callable[[int], object] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]: ...

class SearchSettings:
    @staticmethod
    def make(beams: list[int], k: int, link: int, leaf_link: int, multiply: bool) -> SearchSettings: ...

class Searcher:
    def __init__(self, levels: list[dict[str, NDArray[Any]]]) -> None: ...
    def search(
        self,
        count: int,
        indptr: NDArray[np.int64] | None,
        indices: NDArray[np.int32] | None,
        data: NDArray[np.float32] | None,
        dense: NDArray[np.float32] | None,
        settings: SearchSettings,
        allowed: list[NDArray[np.uint8]] | None,
        threads: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...
    def search_one(
        self,
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        dense: NDArray[np.float32] | None,
        settings: SearchSettings,
        allowed: list[NDArray[np.uint8]] | None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...
    def score(
        self,
        level: int,
        count: int,
        indptr: NDArray[np.int64] | None,
        indices: NDArray[np.int32] | None,
        data: NDArray[np.float32] | None,
        dense: NDArray[np.float32] | None,
        shortlist_ptr: NDArray[np.int64] | None,
        shortlist_parent: NDArray[np.int32] | None,
        shortlist_score: NDArray[np.float32] | None,
        allowed: NDArray[np.uint8] | None,
        link: int,
        add_path: bool,
        keep: int,
        threads: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]: ...

def text_digests(texts: list[str | bytes]) -> NDArray[np.uint64]: ...

class TermIndex:
    def __init__(self, *, kind: str, shortest: int, longest: int, token_length: int, stop: list[bytes]) -> None: ...
    def __len__(self) -> int: ...
    @property
    def in_texts(self) -> NDArray[np.int64]: ...
    @property
    def occurrences(self) -> NDArray[np.int64]: ...
    def learn(
        self, texts: list[str | bytes], alphabet: NDArray[np.uint32], threads: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...
    def look_up(
        self, texts: list[str | bytes], alphabet: NDArray[np.uint32], threads: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...
    def hash(
        self, texts: list[str | bytes], alphabet: NDArray[np.uint32], bits: int, threads: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...
    def insert(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None: ...
    def sorted(self, ids: NDArray[np.int32]) -> NDArray[np.int32]: ...
    def terms(self, ids: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...

def arrange_counts(
    start: NDArray[np.int64],
    ids: NDArray[np.int32],
    counts: NDArray[np.int32],
    columns: NDArray[np.int32],
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...
def rank_by_names(
    start: NDArray[np.int64],
    term: NDArray[np.int32],
    listed: NDArray[np.int32],
    scores: NDArray[np.float32],
    index_start: NDArray[np.int64],
    index_label: NDArray[np.int32],
    index_share: NDArray[np.float32],
    worth: NDArray[np.float32],
    most: float,
    allowed: NDArray[np.uint8],
    power: int,
    floor: float,
    k: int,
    threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...
def probabilities(
    labels: NDArray[np.int32],
    scores: NDArray[np.float32],
    band: NDArray[np.uint8],
    start: NDArray[np.int64],
    knot: NDArray[np.float32],
    value: NDArray[np.float32],
    weight: NDArray[np.float32],
) -> NDArray[np.float32]: ...
def margins_at(
    states: NDArray[np.float32],
    weight: NDArray[np.float32],
    bias: NDArray[np.float32] | None,
    start: NDArray[np.int64],
    node: NDArray[np.int32],
    threads: int,
) -> NDArray[np.float32]: ...
def best_nodes(
    states: NDArray[np.float32],
    weight: NDArray[np.float32],
    bias: NDArray[np.float32] | None,
    k: int,
    allowed: NDArray[np.uint8] | None,
    threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...

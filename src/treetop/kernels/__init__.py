"""The native core: a few functions on arrays, written in C++; `kernels.reference` defines each of them in numpy."""

from __future__ import annotations

from treetop.kernels._native import TermIndex, arrange_counts
from treetop.kernels.kmeans import kmeans_split, kmeans_tree
from treetop.kernels.pack import Packed, concat_packed, pack
from treetop.kernels.packed_checks import check_level
from treetop.kernels.pifa import pifa
from treetop.kernels.rows import squared_lengths, top_k
from treetop.kernels.search import Searcher, score_level
from treetop.kernels.train import NodeWeights, train_nodes

__all__ = [
    "NodeWeights",
    "Packed",
    "Searcher",
    "TermIndex",
    "arrange_counts",
    "check_level",
    "concat_packed",
    "kmeans_split",
    "kmeans_tree",
    "pack",
    "pifa",
    "score_level",
    "squared_lengths",
    "top_k",
    "train_nodes",
]

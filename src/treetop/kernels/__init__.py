"""The native core: a few functions on arrays, written in C++; `kernels.reference` defines each of them in numpy."""

from __future__ import annotations

from treetop.kernels._native import TermIndex, arrange_counts, isa
from treetop.kernels.dense import best_nodes, margins_at
from treetop.kernels.digests import text_digests
from treetop.kernels.kmeans import kmeans_split, kmeans_tree
from treetop.kernels.layout import Packed
from treetop.kernels.names import NamePostings, rank_by_names
from treetop.kernels.pack import WeightType, pack, unpack, weights_of_child
from treetop.kernels.packed_checks import check_level
from treetop.kernels.pifa import pifa
from treetop.kernels.probabilities import Curves, probabilities
from treetop.kernels.rows import bare_csr, first_bad_row, squared_lengths, top_k
from treetop.kernels.runs import Runs
from treetop.kernels.search import Combine, Link, Mask, Searcher, score_level
from treetop.kernels.train import NodeWeights, TrainingFeatures, train_nodes, training_cost

__all__ = [
    "Combine",
    "Curves",
    "Link",
    "Mask",
    "NamePostings",
    "NodeWeights",
    "Packed",
    "Runs",
    "Searcher",
    "TermIndex",
    "TrainingFeatures",
    "WeightType",
    "arrange_counts",
    "bare_csr",
    "best_nodes",
    "check_level",
    "first_bad_row",
    "isa",
    "kmeans_split",
    "kmeans_tree",
    "margins_at",
    "pack",
    "pifa",
    "probabilities",
    "rank_by_names",
    "score_level",
    "squared_lengths",
    "text_digests",
    "top_k",
    "train_nodes",
    "training_cost",
    "unpack",
    "weights_of_child",
]

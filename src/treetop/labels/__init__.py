"""Labels: what they look like, and the tree that they are searched in."""

from __future__ import annotations

from treetop.labels.kmeans import TreeConfig, grow_tree
from treetop.labels.large import grow_from_texts
from treetop.labels.representation import beside, mix, pifa, pii
from treetop.labels.smoothing import label_graph, smoothed_pifa
from treetop.labels.tree import LabelTree

__all__ = [
    "LabelTree",
    "TreeConfig",
    "beside",
    "grow_from_texts",
    "grow_tree",
    "label_graph",
    "mix",
    "pifa",
    "pii",
    "smoothed_pifa",
]

"""Linear learners: one level of node classifiers, and a whole tree of them."""

from __future__ import annotations

from treetop.kernels import WeightType
from treetop.linear.level import LinearLevel, NodeMargin, SolverConfig
from treetop.linear.tree import LinearTree, LinearTreeConfig, SearchConfig

__all__ = ["LinearLevel", "LinearTree", "LinearTreeConfig", "NodeMargin", "SearchConfig", "SolverConfig", "WeightType"]

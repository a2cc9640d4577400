"""The native core: a few functions on arrays, written in C++; `kernels.reference` defines each of them in numpy."""

from __future__ import annotations

from treetop.kernels.kmeans import kmeans_split, kmeans_tree
from treetop.kernels.pifa import pifa

__all__ = ["kmeans_split", "kmeans_tree", "pifa"]

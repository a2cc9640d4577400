"""Datasets: texts with labels, read from files or built from lists, and split without leaking duplicates."""

from __future__ import annotations

from treetop.data.dataset import Corpus, Dataset, LabelSpace
from treetop.data.readers import read, splits

__all__ = ["Corpus", "Dataset", "LabelSpace", "read", "splits"]

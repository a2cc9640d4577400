"""Datasets: texts with labels, read from files or built from lists, and split without leaking duplicates."""

from __future__ import annotations

from treetop.data.dataset import Corpus, Dataset, LabelSpace
from treetop.data.findings import Findings
from treetop.data.readers import read, splits
from treetop.data.records import Record, read_texts
from treetop.data.splitting import split_by_group, split_by_ratio, split_by_time

__all__ = [
    "Corpus", "Dataset", "Findings", "LabelSpace", "Record", "read", "read_texts", "split_by_group", "split_by_ratio",
    "split_by_time", "splits",
]  # fmt: skip

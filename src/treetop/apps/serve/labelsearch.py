"""Finding labels by words of their names or texts: names that begin so first, then frequent ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from treetop.data import LabelSpace

__all__ = ["LabelSearch"]


class LabelSearch:
    """All labels of a model, to be searched in milliseconds also where there are a million."""

    def __init__(self, space: LabelSpace, frequency: Any) -> None:
        names = pl.Series("name", space.names, dtype=pl.String).str.to_lowercase()
        texts = names if space.texts is None else pl.Series("text", space.texts, dtype=pl.String).str.to_lowercase()
        self._table = pl.DataFrame({
            "number": np.arange(len(space), dtype=np.int32),
            "name": names,
            "text": texts,
            "frequency": np.asarray(frequency, np.int64),
        })  # fmt: skip

    def find(self, query: str, limit: int) -> list[int]:
        """The numbers of labels that hold every word of the query, best first."""
        words = query.lower().split()
        hit: pl.Expr = pl.lit(value=True)
        for word in words:
            hit &= pl.col("name").str.contains(word, literal=True) | pl.col("text").str.contains(word, literal=True)
        start = " ".join(words)
        begins = pl.col("name").str.starts_with(start) | pl.col("text").str.starts_with(start)
        whole = (pl.col("name") == start) | (pl.col("text") == start)
        found = self._table.lazy().filter(hit).select("number", "frequency", begins=begins, whole=whole)
        best = found.sort("whole", "begins", "frequency", "number", descending=[True, True, True, False]).head(limit)
        return best.collect()["number"].to_list()

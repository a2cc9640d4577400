"""Splitting a dataset in two without leaking: equal texts end on the same side."""

from __future__ import annotations

from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from treetop.data.dataset import Corpus, Dataset
from treetop.errors import ConfigError, DataError

__all__ = ["split_by_ratio"]


def split_by_ratio(dataset: Dataset, ratio: float, seed: int = 0) -> tuple[Dataset, Dataset]:
    """Two datasets, of which the first has about `ratio` of the texts; both keep the label space and the row order.

    Texts are ranked by a hash of themselves and the seed and the first part takes the lowest, so neither the order of
    the rows nor the machine matters. Texts that differ only in case or white space count as equal. Without texts, rows
    of equal features do.
    """
    if not 0.0 < ratio < 1.0:
        raise ConfigError(f"ratio is {ratio}; give the share of the first part, between 0 and 1")
    keys = _keys(dataset.corpus, seed)
    groups, member, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    if len(groups) < 2:
        raise DataError(f"the {len(dataset)} texts are all equal; two different ones are needed to split")
    middles = np.cumsum(sizes) - sizes / 2  # a group goes where most of it belongs
    first = middles <= ratio * len(dataset)
    first[0], first[-1] = True, False  # neither part is empty
    chosen = first[member]
    return dataset.take(chosen), dataset.take(~chosen)


def _keys(corpus: Corpus, seed: int) -> NDArray[np.uint64]:
    """A number per row, equal for equal texts and otherwise in random order."""
    salt = str(seed).encode()
    contents = map(_normal_text, corpus.texts) if len(corpus.texts) else _feature_rows(corpus)
    digests = b"".join(blake2b(content, digest_size=8, key=salt).digest() for content in contents)
    return np.frombuffer(digests, dtype="<u8")


def _normal_text(text: str) -> bytes:
    return " ".join(text.casefold().split()).encode("utf-8", "surrogatepass")


def _feature_rows(corpus: Corpus) -> list[bytes]:
    features = corpus.features
    if features is None:
        return []
    ends = features.indptr
    return [features.indices[start:end].tobytes() + features.data[start:end].tobytes() for start, end in pairwise(ends)]

"""A short word for labelled texts: equal data have the same one, in whatever order and numbering it comes."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from treetop.data.dataset import Dataset
from treetop.data.digests import hashed
from treetop.sparse import row_numbers

__all__ = ["fingerprint"]


def fingerprint(dataset: Dataset) -> str:
    """Sixteen hexadecimal digits from the digests of texts and the names of their labels.

    As in digests, white space and the case of ASCII letters in a text do not count.
    """
    names = hashed(name.encode("utf-8", "surrogatepass") for name in dataset.space.names)
    tags = np.zeros(len(dataset), np.uint64)
    np.add.at(tags, row_numbers(dataset.labels), names[dataset.labels.indices])  # wraps around, in any order
    rows = np.column_stack([dataset.corpus.digests, tags]).astype("<u8")
    return blake2b(rows[np.lexsort(rows.T)].tobytes(), digest_size=8).hexdigest()

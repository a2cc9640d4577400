"""Eight bytes that stand for a text: enough to count duplicates and to tell whether a text was seen before.

White space and the case of ASCII letters do not count, so a text that was wrapped or indented anew keeps its digest.
Two different texts share one by chance about once in 2⁶⁴ pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from treetop.types import CSR

__all__ = ["digests", "feature_digests"]

_LOWER = bytes(range(256)).lower()
_WHITE = b" \t\n\r\v\f"


def digests(texts: Iterable[str]) -> NDArray[np.uint64]:
    """A number per text, the same on every machine and in every version."""
    return _joined(text.encode("utf-8", "surrogatepass").translate(_LOWER, _WHITE) for text in texts)


def feature_digests(features: CSR) -> NDArray[np.uint64]:
    """A number per row of a canonical matrix, for data that has features only."""
    columns, values = features.indices.astype("<i4", copy=False), features.data.astype("<f4", copy=False)
    rows = pairwise(features.indptr.tolist())
    return _joined(columns[start:end].tobytes() + values[start:end].tobytes() for start, end in rows)


def _joined(contents: Iterable[bytes]) -> NDArray[np.uint64]:
    whole = b"".join(blake2b(content, digest_size=8).digest() for content in contents)
    return np.frombuffer(whole, dtype="<u8").astype(np.uint64, copy=False)

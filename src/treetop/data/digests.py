"""Eight bytes that stand for a text: enough to count duplicates and to tell whether a text was seen before.

White space and the case of ASCII letters do not count, so a text that was wrapped or indented anew keeps its digest.
Two different texts share one by chance about once in 2⁶⁴ pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from treetop.kernels import text_digests
from treetop.types import CSR

__all__ = ["digests", "earlier_digests", "feature_digests", "feature_rows", "hashed"]

_LOWER = bytes(range(256)).lower()
_WHITE = b" \t\n\r\v\f"


def digests(texts: Sequence[str]) -> NDArray[np.uint64]:
    """A number per text, the same on every machine and in every version from 0.3 on."""
    return text_digests(texts)


def earlier_digests(texts: Iterable[str]) -> NDArray[np.uint64]:
    """The numbers that versions up to 0.2 gave, which their model folders hold."""
    return hashed(text.encode("utf-8", "surrogatepass").translate(_LOWER, _WHITE) for text in texts)


def feature_digests(features: CSR) -> NDArray[np.uint64]:
    """A number per row of a canonical matrix, for data that has features only."""
    return hashed(feature_rows(features))


def feature_rows(features: CSR) -> Iterator[bytes]:
    """What stands in each row of a canonical matrix: its columns and its values."""
    columns, values = features.indices.astype("<i4", copy=False), features.data.astype("<f4", copy=False)
    rows = pairwise(features.indptr.tolist())
    return (columns[start:end].tobytes() + values[start:end].tobytes() for start, end in rows)


def hashed(contents: Iterable[bytes], key: bytes = b"") -> NDArray[np.uint64]:
    """Eight bytes of each content's hash; another key gives others, in another order."""
    whole = b"".join(blake2b(content, digest_size=8, key=key).digest() for content in contents)
    return np.frombuffer(whole, dtype="<u8").astype(np.uint64, copy=False)

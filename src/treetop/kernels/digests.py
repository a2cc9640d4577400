"""Eight bytes that stand for a text, in one pass over its characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from treetop.kernels import _native

__all__ = ["text_digests"]

_TOGETHER = 1 << 14  # texts; those beyond ASCII are encoded for the kernel, so many at a time


def text_digests(texts: Sequence[str]) -> NDArray[np.uint64]:
    """XXH64 of each text's UTF-8, without ASCII's white space and with its capitals as small letters."""
    found = np.empty(len(texts), np.uint64)
    for first in range(0, len(texts), _TOGETHER):
        some = [t if t.isascii() else t.encode("utf-8", "surrogatepass") for t in texts[first : first + _TOGETHER]]
        found[first : first + _TOGETHER] = _native.text_digests(some)
    return found

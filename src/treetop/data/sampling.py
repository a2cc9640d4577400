"""A look at some of many texts."""

from __future__ import annotations

from random import Random

from treetop.types import Texts

__all__ = ["some_of"]


def some_of(texts: Texts, most: int) -> list[str]:
    """All texts, or `most` of them, taken at random and the same every time, in their order.

    Every tenth of them would not do: exports have patterns, and a step may meet one and only one kind of row.
    """
    if len(texts) <= most:
        return list(texts)
    return [texts[row] for row in sorted(Random(0).sample(range(len(texts)), most))]

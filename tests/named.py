"""Texts that say the names of their labels, some of labels that no training text has."""

from __future__ import annotations

import numpy as np

from treetop.data import Dataset

__all__ = ["KNOWN", "NAMES", "named_texts"]

_FIRST = ("amber", "brass", "coral", "denim", "ebony", "flint")
_SECOND = ("engine", "fabric", "garden", "harbour", "island", "journal")
NAMES = tuple(f"{one}_{other}" for one in _FIRST for other in _SECOND)
KNOWN = NAMES[:24]
"""Those that training texts may have."""


def named_texts(texts: int, seed: int, names: tuple[str, ...] = NAMES) -> Dataset:
    """Texts of noise with the words of one or two labels' names in them."""
    random = np.random.default_rng(seed)
    rows, labels = [], []
    for _ in range(texts):
        own = [names[number] for number in random.choice(len(names), int(random.integers(1, 3)), replace=False)]
        noise = [f"noise{random.integers(300)}" for _ in range(8)]
        rows.append(" ".join([*noise[:4], *(name.replace("_", " ") for name in own), *noise[4:]]))
        labels.append(own)
    return Dataset.build(rows, labels)

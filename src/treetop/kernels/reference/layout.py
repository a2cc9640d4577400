"""Narrow numbers of a packed level in plain numpy, number by number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["narrow", "plain"]

PAGE = 65_536


def narrow(level: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """What `pack` makes, as `Runs` stores it; see `kernels.layout` for the arrays."""
    pages = max(1, -(-int(level["width"][0]) // PAGE))
    starts, rows = level["entry_ptr"].tolist(), len(level["row_feature"])
    turns = [row for row in range(1, rows + 1) for _ in range(starts[row] // PAGE - starts[row - 1] // PAGE)]
    result = level | {
        "entry_ptr": np.array([start % PAGE for start in starts], np.uint16),
        "entry_turn": np.array([*turns, rows + 1], np.int64),
    }
    if pages > 64:
        return result
    bounds = [0]
    for first, last in zip(level["row_ptr"][:-1].tolist(), level["row_ptr"][1:].tolist(), strict=True):
        for page in range(pages):
            own = [feature for feature in level["row_feature"][first:last].tolist() if feature // PAGE == page]
            bounds.append(bounds[-1] + len(own))
    features = [feature % PAGE for feature in level["row_feature"].tolist()]
    return result | {"row_ptr": np.array(bounds, np.int64), "row_feature": np.array(features, np.uint16)}


def plain(level: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The same level with plain features and offsets."""
    parents = len(level["children_ptr"]) - 1
    pages = (len(level["row_ptr"]) - 1) // max(1, parents)
    features = []
    for part, (first, last) in enumerate(zip(level["row_ptr"][:-1], level["row_ptr"][1:], strict=True)):
        features += [int(feature) + part % pages * PAGE for feature in level["row_feature"][first:last]]
    turns = level.get("entry_turn", np.empty(0, np.int64))
    starts = [int(low) + PAGE * int((turns <= row).sum()) for row, low in enumerate(level["entry_ptr"])]
    return {name: array for name, array in level.items() if name != "entry_turn"} | {
        "row_ptr": level["row_ptr"][::pages],
        "row_feature": np.array(features, np.int32),
        "entry_ptr": np.array(starts, np.int64),
    }

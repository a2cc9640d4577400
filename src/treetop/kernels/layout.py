"""How the numbers of a packed level are stored: as narrow as they can be, and searched and mapped just so.

Features take 16 bits: they are cut into pages of 65,536, and the rows of each parent into as many parts, so that

    row_ptr[p · pages + page] .. row_ptr[p · pages + page + 1]     rows of parent p whose features are on that page
    row_feature[r]                                                 the feature within its page

Offsets of entries take 16 bits, too: `entry_ptr[r]` is the offset modulo 65,536, and `entry_turn` has the rows at which
that begins anew, so that the offset of row r is 65,536 times the number of turns up to r, plus `entry_ptr[r]`. The last
turn is beyond all rows. A row's neighbours are found at once, without the sums that stored differences would need.

What `pack` makes, and models of earlier versions, have features of 32 and offsets of 64 bits: one page and no turns.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packed", "entry_starts", "features_of", "pages_in", "row_bounds", "to_pages", "to_turns"]

Packed: TypeAlias = dict[str, NDArray[Any]]
"""The arrays of one level."""

PAGE = 1 << 16
_MOST_PAGES = 64  # With more, a parent's bounds would take more than its features save.


def pages_in(columns: int) -> int | None:
    """Pages of so many features; None if they are stored in 32 bits."""
    pages = max(1, -(-columns // PAGE))
    return pages if pages <= _MOST_PAGES else None


def to_pages(run: Packed) -> Packed:
    """`row_ptr` and `row_feature` of what `pack` made, page by page if there are not too many."""
    pages, feature = pages_in(int(run["width"][0])), run["row_feature"]
    if pages is None:
        return {"row_ptr": run["row_ptr"], "row_feature": feature}
    counts = np.diff(run["row_ptr"])
    places = np.repeat(np.arange(len(counts)) * pages, counts) + feature // PAGE
    bounds = np.cumsum(np.bincount(places, minlength=len(counts) * pages))
    return {"row_ptr": np.append(0, bounds).astype(np.int64), "row_feature": (feature % PAGE).astype(np.uint16)}


def to_turns(starts: NDArray[np.int64], first_row: int) -> Packed:
    """`entry_ptr` and `entry_turn` of the rows from `first_row` on; `starts` has one more at its end."""
    rows = first_row + np.arange(1, len(starts))
    return {
        "entry_ptr": (starts[1:] % PAGE).astype(np.uint16),
        "entry_turn": np.repeat(rows, np.diff(starts // PAGE)).astype(np.int64),
    }


def row_bounds(level: Packed, first: int, last: int) -> NDArray[np.int64]:
    """Where the rows of parents [first, last) begin, and where the last of them end."""
    parents = len(level["children_ptr"]) - 1
    pages = (len(level["row_ptr"]) - 1) // max(1, parents)
    return level["row_ptr"][first * pages : last * pages + 1 : pages]


def features_of(level: Packed, first: int, last: int) -> NDArray[Any]:
    """The features of all rows of parents [first, last)."""
    parents = len(level["children_ptr"]) - 1
    pages = (len(level["row_ptr"]) - 1) // max(1, parents)
    bounds = level["row_ptr"][first * pages : last * pages + 1]
    within = level["row_feature"][int(bounds[0]) : int(bounds[-1])]
    if pages == 1:
        return within.astype(np.int32, copy=False)
    return within + np.repeat(np.tile(np.arange(pages, dtype=np.int32) * PAGE, last - first), np.diff(bounds))


def entry_starts(level: Packed, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the entries of some rows begin."""
    starts = level["entry_ptr"][rows].astype(np.int64)
    turn = level.get("entry_turn")
    return starts if turn is None else starts + PAGE * np.searchsorted(turn, rows, "right")

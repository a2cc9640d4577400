"""Label names that occur in texts, counted into the scores of ranked labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.errors import DataError
from treetop.kernels import _native
from treetop.kernels.rows import offsets_of
from treetop.types import CSR, Floats, Ids

__all__ = ["NamePostings", "rank_by_names"]

_ALL = np.empty(0, np.uint8)


class NamePostings(NamedTuple):
    """For each term of label names the labels that have it."""

    start: NDArray[np.int64]
    """Where the labels of each term begin, and at the end their number."""
    label: Ids
    share: Floats
    """What the term says of the label: its share of the label's name."""


def rank_by_names(
    terms: CSR,
    listed: Ids,
    scores: Floats,
    names: NamePostings,
    worth: Floats,
    *,
    most: float | None = None,
    power: int = 1,
    floor: float,
    k: int,
    allowed: NDArray[np.bool_] | None = None,
    threads: int = 1,
) -> tuple[Ids, Floats]:
    """The k best labels of each text and their scores when the shares of names found in it are worth something.

    `terms` says which terms of names a text has; `listed` and `scores` are its ranked labels so far, texts × depth. A
    label scores what it did, or `floor` if it was not listed, plus its share, raised to `power`, times `worth[label]`.
    Labels that are not listed come in if a part of their name is there, they are `allowed`, and worth more than
    nothing. Ties: by number.
    `most` is the largest worth, if the caller has it at hand: then labels without a chance cost next to nothing.
    The postings are trusted: who makes or loads them checks them, once.
    """
    if len(names.start) != terms.shape[1] + 1:
        raise DataError(f"the texts have {terms.shape[1]:,} terms, the names {len(names.start) - 1:,}")
    if terms.shape[0] != len(listed) or listed.shape != scores.shape:
        raise DataError(f"{terms.shape[0]} texts, but {listed.shape} labels with {scores.shape} scores")
    try:
        return _native.rank_by_names(
            offsets_of(terms),
            terms.indices,
            np.ascontiguousarray(listed, np.int32),
            np.ascontiguousarray(scores, np.float32),
            *names,
            worth,
            float(worth.max(initial=0.0)) if most is None else most,
            _ALL if allowed is None else allowed.astype(np.uint8),
            power,
            floor,
            k,
            threads,
        )
    except IndexError as error:
        raise DataError(str(error)) from None

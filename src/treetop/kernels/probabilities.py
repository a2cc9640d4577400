"""Scores of ranked labels as probabilities that agree with the ranking."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.errors import DataError
from treetop.kernels import _native
from treetop.types import Floats, Ids

__all__ = ["Curves", "probabilities"]


class Curves(NamedTuple):
    """A rising map from scores to probabilities for each band of labels: straight lines between knots."""

    start: NDArray[np.int64]
    """Where the knots of each band begin, and at the end their number; no band is without any."""
    knot: Floats
    """Scores, strictly rising within a band."""
    value: Floats
    """Their probabilities, never falling within a band; below the first and above the last knot it stays level."""
    weight: Floats
    """How much a label of each band counts where it has to agree with its neighbours in a list; above zero."""


def probabilities(labels: Ids, scores: Floats, band: NDArray[np.uint8], curves: Curves) -> Floats:
    """The probabilities of ranked labels, texts × k; 0 beside -1.

    Each score goes through the curve of its label's band. In a list where that would rise, neighbours are pooled and
    share their weighted mean (pool adjacent violators): of all lists that never rise it is the closest by weighted
    least squares.
    """
    ids, values = np.ascontiguousarray(labels, np.int32), np.ascontiguousarray(scores, np.float32)
    try:
        return _native.probabilities(ids, values, band, *curves)
    except IndexError as error:
        raise DataError(str(error)) from None

"""Small predictions and truths written as lists."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pytest
from scipy.sparse import csr_array

from rankings import Ranked, Truth
from treetop.predictions import Predictions
from treetop.types import CSR


@pytest.fixture(scope="session")
def truth() -> Truth:
    """Label lists → texts × labels."""

    def build(rows: Sequence[Collection[int]], width: int) -> CSR:
        matrix = np.zeros((len(rows), width), np.float32)
        for text, row in enumerate(rows):
            matrix[text, list(row)] = 1
        return csr_array(matrix)

    return build


@pytest.fixture(scope="session")
def ranked() -> Ranked:
    """Ranked label lists, -1 where there are fewer → predictions with falling scores."""

    def build(rows: Sequence[Sequence[int]]) -> Predictions:
        labels = np.array(rows, np.int32)
        scores = np.where(labels >= 0, np.linspace(1, 0.1, labels.shape[1]), 0)
        return Predictions(labels, scores.astype(np.float32))

    return build

"""What a label is taken for: the wrong labels that stand where it should have stood.

A text with n true labels has n places at the top of its list. A true label that is not there was missed, and the wrong
labels that are there stand in its place: each of w wrong ones for 1 / w of it. Summed over texts, this says what a
label is confused with, whatever threshold is chosen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from treetop.metrics.ranking import Judged
from treetop.predictions import Predictions
from treetop.sparse import canonical, from_parts
from treetop.types import CSR

__all__ = ["confusions"]


def confusions(judged: Judged, most: int = 3) -> Predictions:
    """For each label those that it is confused with most: rows are labels, and scores count texts."""
    width = max(judged.true.shape[1], int(judged.labels.max(initial=0)) + 1)
    top = (np.arange(judged.labels.shape[1]) < judged.true_counts[:, None]) & (judged.labels >= 0)
    true = from_parts(judged.true.indptr, judged.true.indices, None, columns=width)
    missed = canonical(true - _matrix(judged, top & judged.hits, width))
    missed.eliminate_zeros()
    wrong = _matrix(judged, top & ~judged.hits, width)
    sizes = np.diff(wrong.indptr)
    wrong.data /= np.repeat(sizes, sizes)
    return Predictions.from_csr(canonical(missed.T @ wrong), most)


def _matrix(judged: Judged, mask: NDArray[np.bool_], width: int) -> CSR:
    """Texts × labels with a one for every suggestion within the mask."""
    ends = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
    shape = (len(judged.labels), width)
    return canonical(csr_array((np.ones(int(ends[-1]), np.float32), judged.labels[mask], ends), shape=shape))

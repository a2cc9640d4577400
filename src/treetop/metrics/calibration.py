"""Whether scores can be read as probabilities."""

from __future__ import annotations

import numpy as np

from treetop.errors import ConfigError, DataError
from treetop.metrics.ranking import judge
from treetop.metrics.truth import Truth, as_truth
from treetop.predictions import Predictions

__all__ = ["expected_calibration_error"]


def expected_calibration_error(
    predictions: Predictions, labels: Truth, *, k: int | None = None, bins: int = 15
) -> float:
    """How far, on average, a score is from the share of labels with such scores that are true.

    The scores of the k best labels of all texts are sorted into equal bins from 0 to 1; with n_b scores in bin b out
    of n the error is Σ_b n_b / n · |mean score_b - share of hits_b| (Guo et al., ICML 2017). 0 is perfect.
    """
    if bins < 1:
        raise ConfigError(f"bins is {bins}; give at least 1")
    judged = judge(predictions, as_truth(predictions, labels), k or predictions.k)
    given = judged.labels >= 0
    scores, hits = predictions.scores[:, : given.shape[1]][given].astype(np.float64), judged.hits[given]
    if not len(scores):
        return 0.0
    if not ((scores >= 0) & (scores <= 1)).all():
        raise DataError(
            f"scores from {scores.min():.4g} to {scores.max():.4g} are no probabilities; "
            "calibration needs scores from 0 to 1, such as those after a sigmoid"
        )
    bin_of = np.minimum((scores * bins).astype(np.int64), bins - 1)
    gap = np.bincount(bin_of, weights=scores - hits, minlength=bins)
    return float(np.abs(gap).sum() / len(scores))

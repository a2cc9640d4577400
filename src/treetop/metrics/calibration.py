"""Whether scores can be read as probabilities: expected calibration error, Brier score, reliability diagram."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.errors import ConfigError, DataError
from treetop.metrics.ranking import judge
from treetop.metrics.truth import Truth, as_truth
from treetop.predictions import Predictions

__all__ = ["Reliability", "brier_score", "expected_calibration_error", "reliability"]

Doubles = NDArray[np.float64]


class Reliability(NamedTuple):
    """A reliability diagram: what was said beside what was true, in bins of scores. Empty bins are left out."""

    score: Doubles
    """The mean score of each bin."""
    share: Doubles
    """The share of its labels that are true."""
    size: NDArray[np.int64]
    """How many labels are in it."""

    @property
    def error(self) -> float:
        """Σ_b n_b / n · |mean score_b - share of hits_b|."""
        return float(np.abs(self.score - self.share) @ self.size / max(int(self.size.sum()), 1))


def reliability(
    predictions: Predictions,
    labels: Truth,
    *,
    k: int | None = None,
    bins: int = 15,
    among: NDArray[np.bool_] | None = None,
) -> Reliability:
    """The scores of the k best labels of all texts, sorted into equal bins from 0 to 1, beside the share of hits.

    `among` says of each label whether it counts.
    """
    if bins < 1:
        raise ConfigError(f"bins is {bins}; give at least 1")
    scores, hits = _scores_and_hits(predictions, labels, k, among)
    bin_of = np.minimum((scores * bins).astype(np.int64), bins - 1)
    size = np.bincount(bin_of, minlength=bins)
    sums = (np.bincount(bin_of, weights=values, minlength=bins) for values in (scores, hits))
    score, share = (one[size > 0] / size[size > 0] for one in sums)
    return Reliability(score, share, size[size > 0])


def expected_calibration_error(
    predictions: Predictions,
    labels: Truth,
    *,
    k: int | None = None,
    bins: int = 15,
    among: NDArray[np.bool_] | None = None,
) -> float:
    """How far, on average, a score is from the share of labels with such scores that are true.

    The scores of the k best labels of all texts are sorted into equal bins from 0 to 1; with n_b scores in bin b out
    of n the error is Σ_b n_b / n · |mean score_b - share of hits_b| (Guo et al., ICML 2017). 0 is perfect. `among` says
    of each label whether it counts.
    """
    return reliability(predictions, labels, k=k, bins=bins, among=among).error


def brier_score(
    predictions: Predictions, labels: Truth, *, k: int | None = None, among: NDArray[np.bool_] | None = None
) -> float:
    """The mean of (score - hit)² over the k best labels of all texts (Brier 1950). 0 is perfect."""
    scores, hits = _scores_and_hits(predictions, labels, k, among)
    return float(np.square(scores - hits).mean()) if len(scores) else 0.0


def _scores_and_hits(
    predictions: Predictions, labels: Truth, k: int | None, among: NDArray[np.bool_] | None
) -> tuple[Doubles, NDArray[np.bool_]]:
    judged = judge(predictions, as_truth(predictions, labels), k or predictions.k)
    given = judged.labels >= 0
    if among is not None:
        given = given & among[judged.labels]
    scores, hits = predictions.scores[:, : given.shape[1]][given].astype(np.float64), judged.hits[given]
    if not ((scores >= 0) & (scores <= 1)).all():
        raise DataError(
            f"scores from {scores.min():.4g} to {scores.max():.4g} are no probabilities; "
            "calibration needs scores from 0 to 1, such as those after a sigmoid"
        )
    return scores, hits

"""A trial."""

from __future__ import annotations

import numpy as np

from treetop.apps.tuning.trial import mean_of, pooled
from treetop.metrics import Spread
from trials import trial


def test_the_mean_of_metrics_moves_as_their_mean_does() -> None:
    first, second = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.5, 0.5, 1.0, 0.0])
    both = (first + second) / 2
    found = mean_of([Spread(float(one.mean()), one - one.mean()) for one in (first, second)])
    assert found.value == both.mean()
    np.testing.assert_allclose(found.each, both - both.mean())
    assert found.standard_error == both.std(ddof=1) / 2


def test_texts_that_were_judged_in_parts_are_judged_as_one() -> None:
    """Right for three of four texts, then for one of two: as for four of six."""
    rights = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    found = pooled(trial((0,), rights[:4].tolist()), [trial((0,), rights[4:].tolist())])
    assert found.metrics["p@1"] == found.score.value == rights.mean()
    np.testing.assert_allclose(found.score.each, rights - rights.mean())
    assert (found.judged, found.trainings) == (6, 1)

"""A trial."""

from __future__ import annotations

import numpy as np

from treetop.apps.tuning.trial import mean_of
from treetop.metrics import Spread


def test_the_mean_of_metrics_moves_as_their_mean_does() -> None:
    first, second = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.5, 0.5, 1.0, 0.0])
    both = (first + second) / 2
    found = mean_of([Spread(float(one.mean()), one - one.mean()) for one in (first, second)])
    assert found.value == both.mean()
    np.testing.assert_allclose(found.each, both - both.mean())
    assert found.standard_error == both.std(ddof=1) / 2

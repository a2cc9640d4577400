"""Trials made by hand, for the tests of what is concluded from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treetop.apps.tuning.space import Setting
from treetop.apps.tuning.trial import Trial
from treetop.metrics import Spread


def trial(
    setting: Setting,
    hits: Sequence[float],
    *,
    texts: int = 100,
    weights: int = 10,
    seconds: float = 1.0,
    megabytes: float = 1.0,
) -> Trial:
    """A trial with so many hits for each held-out text."""
    value = float(np.mean(hits))
    score = Spread(value, np.array(hits, np.float64) - value)
    return Trial(setting, texts, {"p@1": value}, score, weights, seconds, seconds, megabytes)

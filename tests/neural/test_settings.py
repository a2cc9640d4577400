from __future__ import annotations

import math

import pytest

from treetop.errors import ConfigError
from treetop.neural.settings import OptimConfig, check_watched


@pytest.mark.parametrize("wrong", [{"lr": 0.0}, {"batch_size": 0}, {"beta1": 1.0}, {"warmup": -1.0}, {"lr": math.nan},
                                   {"progressive": (1,)}])  # fmt: skip
def test_impossible_settings(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        OptimConfig(**wrong)  # type: ignore[arg-type]


def test_a_dev_score_that_nobody_takes() -> None:
    check_watched(OptimConfig(), None)
    check_watched(OptimConfig(patience=2), 0.1)
    with pytest.raises(ConfigError, match="set dev_share"):
        check_watched(OptimConfig(patience=2), 0.0)
    with pytest.raises(ConfigError, match="has no dev score"):
        check_watched(OptimConfig(watch_every=5), None)

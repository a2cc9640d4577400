from __future__ import annotations

from math import e, log
from typing import Any

import numpy as np
import pytest

from treetop.errors import ConfigError
from treetop.metrics import Propensity


def test_by_hand() -> None:
    # (n + B)^-A · (B + 1)^A is 1 at n = 1, so the weight of a label seen once is ln N for any A and B.
    for a, b in [(0.55, 1.5), (0.5, 0.4), (0.6, 2.6)]:
        assert Propensity(train_texts=15_449, a=a, b=b).inverse(np.array([1]))[0] == pytest.approx(log(15_449))
    # A = 0.5, B = 0.44: sqrt(1.44) = 1.2 and sqrt(0.44 + 8.56) = 3
    weights = Propensity(train_texts=1000, a=0.5, b=0.44).inverse(np.array([8.56, 1]))
    assert weights == pytest.approx([1 + (log(1000) - 1) * 1.2 / 3, log(1000)])


def test_rarer_labels_weigh_more_and_none_less_than_one() -> None:
    weights = Propensity(train_texts=10**6).inverse(np.arange(10_000))
    assert (np.diff(weights) < 0).all()
    assert weights[-1] > 1


@pytest.mark.parametrize("texts", [1, 2])
def test_tiny_training_sets_weigh_all_labels_the_same(texts: int) -> None:
    assert texts < e
    assert Propensity(train_texts=texts).inverse(np.array([0, 1, 2])).tolist() == [1, 1, 1]


@pytest.mark.parametrize(("field", "value"), [("train_texts", 0), ("b", 0.0), ("a", -0.1), ("b", float("nan"))])
def test_impossible_constants(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{field}.*{value}"):
        Propensity(**{"train_texts": 10, field: value})

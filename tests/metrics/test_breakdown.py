from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array

from treetop.errors import ConfigError
from treetop.metrics import BAND_WORDS, BANDS, Propensity, bands_by_mass, breakdown, evaluate
from treetop.metrics.evaluate import NAMES
from treetop.predictions import Predictions

#                 head torso tail  unseen (beyond the frequencies: label 3)
FREQUENCY = np.array([101, 6, 5])
LABELS = csr_array(np.array([[1, 1, 1, 1], [1, 0, 1, 0]], np.float32))
PREDICTIONS = Predictions(np.array([[0, 1], [2, 1]], np.int32), np.array([[0.9, 0.8], [0.7, 0.6]], np.float32))


def test_by_hand() -> None:
    found = breakdown(PREDICTIONS, LABELS, ["p@2", "p@1"], frequency=FREQUENCY)
    assert list(found) == ["unseen", "tail", "torso", "head"]
    assert found["unseen"] == pytest.approx(
        {"labels": 1 / 4, "pairs": 1 / 6, "p@2": 0, "p@1": 0, "found@1": 0, "found@2": 0}
    )
    assert found["tail"] == pytest.approx(
        {"labels": 1 / 4, "pairs": 2 / 6, "p@2": 1 / 4, "p@1": 1 / 2, "found@1": 1 / 2, "found@2": 1 / 2}
    )
    assert found["torso"] == pytest.approx(
        {"labels": 1 / 4, "pairs": 1 / 6, "p@2": 1 / 4, "p@1": 0, "found@1": 0, "found@2": 1}
    )
    assert found["head"] == pytest.approx(
        {"labels": 1 / 4, "pairs": 2 / 6, "p@2": 1 / 4, "p@1": 1 / 2, "found@1": 1 / 2, "found@2": 1 / 2}
    )


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.sampled_from([dict(BANDS), {"rare": 10, "common": inf}, {"all": inf}]))
def test_contributions_add_up(seed: int, bands: dict[str, float]) -> None:
    rng = np.random.default_rng(seed)
    labels = csr_array((rng.random((15, 12)) < 0.3).astype(np.float32))
    predictions = Predictions.from_csr(csr_array(rng.random((15, 14)).astype(np.float32)), 6)
    options: dict[str, Any] = {"frequency": rng.integers(0, 200, 10), "propensity": Propensity(train_texts=500)}
    names = [f"{kind}@4" for kind in NAMES]
    parts = breakdown(predictions, labels, names, bands=bands, **options).values()
    whole = evaluate(predictions, labels, names, **options)
    for name in names:
        assert sum(part[name] for part in parts) == pytest.approx(whole[name])
    assert sum(part["labels"] for part in parts) == pytest.approx(1)
    assert sum(part["pairs"] for part in parts) == pytest.approx(1)
    hits = evaluate(predictions, labels, ["p@4"])["p@4"] * 4 * 15
    assert sum(part["pairs"] * part["found@4"] for part in parts) == pytest.approx(hits / labels.nnz)


def test_thirds_of_the_mass() -> None:
    # 18 occurrences: 1+1+1+1+2 = 6 | 6 | 6
    assert bands_by_mass(np.array([6, 1, 0, 1, 2, 6, 1, 1])) == {"unseen": 0, "tail": 2, "torso": 6, "head": inf}
    assert bands_by_mass(np.array([100, 10, 50, 50, 90])) == {"unseen": 0, "tail": 50, "torso": 90, "head": inf}
    assert bands_by_mass(np.array([0, 0])) == {"unseen": 0, "tail": 0, "torso": 0, "head": inf}


@pytest.mark.parametrize("bands", [{}, {"head": 100, "tail": 5}, {"tail": 5, "head": 100}])
def test_impossible_bands(bands: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="rising limits"):
        breakdown(PREDICTIONS, LABELS, frequency=FREQUENCY, bands=bands)


def test_the_words_for_bands_are_those_of_their_bounds() -> None:
    assert list(BAND_WORDS) == list(BANDS)
    edges = [bound for bound in BANDS.values() if 0 < bound < float("inf")]
    assert edges == [5, 100]
    assert [BAND_WORDS[band] for band in ("tail", "torso", "head")] == [
        "tail (1–5)",
        "torso (6–100)",
        "head (over 100)",
    ]

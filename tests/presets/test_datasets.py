from __future__ import annotations

from math import log

import numpy as np
import pytest

from treetop.errors import ConfigError
from treetop.presets.datasets import BENCHMARKS, PROPENSITY_CONSTANTS, benchmark, known_by_size, propensity_constants


def test_sizes_are_consistent() -> None:
    for known in BENCHMARKS.values():
        if known.texts_per_label is not None:
            pairs = known.train_texts * known.labels_per_text
            assert pairs / known.labels == pytest.approx(known.texts_per_label, rel=0.005), known.name
    assert [known.name for known in BENCHMARKS.values() if known.features] == [
        "Eurlex-4K",
        "Wiki10-31K",
        "AmazonCat-13K",
        "Wiki-500K",
        "Amazon-670K",
        "Amazon-3M",
    ]


@pytest.mark.parametrize(
    ("name", "a", "b"),
    [
        ("Eurlex-4K", 0.55, 1.5),
        ("Wiki10-31K", 0.55, 1.5),
        ("AmazonCat-13K", 0.55, 1.5),
        ("Wiki-500K", 0.5, 0.4),
        ("Amazon-670K", 0.6, 2.6),
        ("Amazon-3M", 0.6, 2.6),
        (None, 0.55, 1.5),
    ],
)
def test_propensity_constants(name: str | None, a: float, b: float) -> None:
    assert propensity_constants(name) == (a, b)


def test_a_benchmark_knows_its_propensity() -> None:
    model = benchmark("wiki-500k").propensity
    assert (model.a, model.b) == (0.5, 0.4)
    assert model.inverse(np.array([1]))[0] == pytest.approx(log(1_779_881))


def test_names_are_found_in_any_case() -> None:
    assert benchmark("EURLEX-4k").labels == 3_956
    assert propensity_constants("Amazon-3M") == (0.6, 2.6)
    assert set(BENCHMARKS) <= set(PROPENSITY_CONSTANTS)


def test_unknown_benchmark() -> None:
    with pytest.raises(ConfigError, match=r"'eurlex4k'; did you mean eurlex-4k\? known are eurlex-4k, wiki10-31k"):
        benchmark("eurlex4k")
    with pytest.raises(ConfigError, match=r"'amazon670k'; did you mean amazon-670k\?"):
        propensity_constants("amazon670k")  # not silently the default


def test_benchmarks_are_known_by_their_sizes() -> None:
    assert known_by_size(490_449, 667_317) == "amazon-670k"  # labels that occur in training
    assert known_by_size(15_449, 3_956) == known_by_size(15_539, 3_993) == "eurlex-4k"  # the papers', the repository's
    assert known_by_size(490_449, 600_000) is None
    assert known_by_size(490_448, 670_091) is None

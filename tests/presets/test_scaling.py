from __future__ import annotations

import pytest

from treetop.errors import DataError
from treetop.presets.datasets import benchmark
from treetop.presets.papers import PAPERS
from treetop.presets.registry import preset
from treetop.presets.scaling import scaled


def test_settings_of_a_benchmark_stay_as_they_are_for_its_own_sizes() -> None:
    for paper in PAPERS:
        known = benchmark(str(paper.dataset))
        assert scaled(paper.values, 1.0, known.labels, known.labels) == paper.values | (
            {"finest": known.labels if known.labels <= 32_768 else 32_768} if "finest" in paper.values else {}
        )


def test_a_small_share_keeps_levels_and_passes() -> None:
    small = scaled(preset("xr-transformer-wiki-500k").values, 0.01, 8_000, 501_070)
    assert small["coarse_tree"]["widths"] == [2, 8, 64, 512]
    assert small["finest"] == 512
    assert small["fine_tree"]["widths"] == [2, 4, 128]
    assert small["steps"] == [100, 100, 200, 200]
    assert scaled(preset("lightxml-amazon-670k").values, 0.1, 67_009, 670_091)["optim"]["average_every"] == 300
    with pytest.raises(DataError, match="16 labels are too few for a tree of 4 levels"):
        scaled(preset("xr-transformer-wiki-500k").values, 0.01, 16, 501_070)

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from treetop.presets.datasets import benchmark
from treetop.presets.papers import PAPERS
from treetop.presets.preset import Preset

pytest.importorskip("transformers", reason="needs the extra 'neural'")
from treetop.methods.resolving import resolve

TABLE_7 = {"AmazonCat-13K": 45_000, "Wiki-500K": 60_000, "Amazon-670K": 20_000, "Amazon-3M": 30_000}
"""XR-Transformer's sums of steps, where the released scripts agree with the paper."""


def of(method: str) -> list[Any]:
    chosen = [preset for preset in PAPERS if preset.method == method]
    return [pytest.param(preset, resolve(method, preset_name=preset.name), id=preset.dataset) for preset in chosen]


def labels(preset: Preset) -> int:
    assert preset.dataset is not None
    return benchmark(preset.dataset).labels


def test_every_dataset_that_a_paper_reports_is_there() -> None:
    counts = {"x-transformer": 4, "lightxml": 5, "xr-transformer": 6, "cascadexml": 5}
    assert Counter(preset.method for preset in PAPERS) == counts
    assert len({preset.name for preset in PAPERS}) == sum(counts.values())
    assert all(preset.name == f"{preset.method}-{str(preset.dataset).lower()}" for preset in PAPERS)


@pytest.mark.parametrize("preset", PAPERS, ids=lambda preset: preset.name)
def test_published_figures_are_plausible(preset: Preset) -> None:
    assert preset.published[0].models in ("3 models", "9 models")
    for row in preset.published:
        first, third, fifth = row.precision
        assert 100 > first > third > fifth > 30
        assert "Table" in row.source
    ensembles = [row.precision[0] for row in preset.published if row.models != "1 model"]
    singles = [row.precision[0] for row in preset.published if row.models == "1 model"]
    assert all(max(ensembles) > single for single in singles)


@pytest.mark.parametrize(("preset", "config"), of("x-transformer"))
def test_x_transformer(preset: Preset, config: Any) -> None:
    (clusters,) = config.tree.widths
    assert 25 < labels(preset) / clusters < 100  # about 100 labels below a cluster at most, as Parabel's leaves
    assert config.optim.batch_size * config.optim.accumulate == 256
    assert config.optim.warmup < config.optim.steps
    assert config.search.beam < clusters


@pytest.mark.parametrize(("preset", "config"), of("lightxml"))
def test_lightxml(preset: Preset, config: Any) -> None:
    assert (config.mode == "groups") == (labels(preset) > 400_000)
    assert 0 < config.optim.average_from < 1
    if config.mode == "groups":
        (groups,) = config.tree.widths
        assert labels(preset) / groups == pytest.approx(
            {"Wiki-500K": 60, "Amazon-670K": 80}[str(preset.dataset)], abs=2
        )
        assert config.beam < groups


@pytest.mark.parametrize(("preset", "config"), of("xr-transformer"))
def test_xr_transformer(preset: Preset, config: Any) -> None:
    widths = [*config.coarse_tree.widths, labels(preset)]
    tuned = [width for width in widths if width <= config.finest]
    assert len(config.steps) == len(tuned)
    assert sum(config.steps) == TABLE_7.get(str(preset.dataset), sum(config.steps))
    assert all(config.optim.warmup < steps for steps in config.steps)
    assert config.optim.batch_size * config.optim.accumulate == 256
    assert config.fine_tree.widths[-1] < labels(preset)
    solver = config.ranker.solver
    assert solver.c_negative / solver.c_positive == pytest.approx(config.negative)
    assert (config.relevance == "off") == (config.ranker.relevance == "off") == (preset.dataset == "Amazon-670K")


@pytest.mark.parametrize(("preset", "config"), of("cascadexml"))
def test_cascadexml(preset: Preset, config: Any) -> None:
    inner, levels = config.tree.widths, len(config.tree.widths) + 1
    assert len(config.layers) == len(config.dropouts) == levels
    assert len(config.beams) == levels - 1
    assert [max(joined) for joined in config.layers] == sorted(max(joined) for joined in config.layers)
    assert config.layers[-1] == (12,)
    widths = [*inner, labels(preset)]
    assert all(beam <= width for beam, width in zip(config.beams, inner, strict=True))
    sizes = [beam * below / above for beam, above, below in zip(config.beams, inner, widths[1:], strict=True)]
    assert all(200 < size < 5_000 for size in sizes)  # Table 9: shortlists of 2^8 to 2^12
    assert config.optim.batch_size * config.optim.accumulate == 256
    assert config.optim.warmup + config.optim.cool_down < 1
    assert preset.published[1].models == "3 models, tf-idf"

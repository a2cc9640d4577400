from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from treetop.presets.datasets import benchmark
from treetop.presets.papers import PAPERS
from treetop.presets.preset import Preset

pytest.importorskip("transformers", reason="needs the extra 'neural'")
from treetop.methods.resolving import resolve

# The papers' tables, copied from them by hand a second time: benchmark, then what the columns say.
X_TABLE_2_AND_4_2 = {
    "Eurlex-4K": (64, 1_000),
    "Wiki10-31K": (512, 1_400),
    "AmazonCat-13K": (256, 20_000),
    "Wiki-500K": (8_192, 50_000),
}
"""Clusters, steps; for all: 128 tokens, batches of 256, rates among 4, 5, 6 and 8e-5."""
LIGHT_TABLE_1 = {
    "Eurlex-4K": (20, 16, None, 512), "AmazonCat-13K": (5, 16, None, 512), "Wiki10-31K": (30, 16, None, 512),
    "Wiki-500K": (10, 32, 500, 128), "Amazon-670K": (15, 16, 400, 128),
}  # fmt: skip
"""Epochs, batch, label dimension, tokens; for all: rate 1e-4, dropout 0.5, decay 0.01."""
XR_TABLE_7 = {
    "Eurlex-4K": ("16-256-3956", "4-32-256-3956", 5e-5, 2_400, 128, 1.0, 0.5),
    "Wiki10-31K": ("128-2048-30938", "8-128-2048-30938", 1e-4, 4_000, 256, 0.25, 0.25),
    "AmazonCat-13K": ("128-1024-13330", "128-1024-13330", 1e-4, 45_000, 256, 2.0, 2.0),
    "Wiki-500K": ("64-512-4096-32768", "8-256-8192-501070", 1e-4, 60_000, 128, 0.25, 0.25),
    "Amazon-670K": ("128-2048-32768", "8-256-8192-670091", 1e-4, 20_000, 128, None, 1.0),
    "Amazon-3M": ("128-2048-32768", "8-256-8192-2812281", 1e-4, 30_000, 128, 0.125, 0.125),
}
"""Preliminary tree, refined tree, rate, steps, tokens, alpha, lambda; for all: batches of 256, dropout 0.1."""
CASCADE_TABLE_9 = {
    "Wiki10-31K": ([[9, 10], [11], [12]], [9, 12], 15, 256, [0.3, 0.3, 0.4]),
    "AmazonCat-13K": ([[7, 8], [10], [12]], [8, 11], 6, 256, [0.2, 0.3, 0.4]),
    "Wiki-500K": ([[5, 6], [8], [10], [12]], [10, 13, 16], 12, 128, [0.2, 0.25, 0.35, 0.5]),
    "Amazon-670K": ([[5, 6], [8], [10], [12]], [10, 13, 16], 15, 128, [0.2, 0.25, 0.4, 0.5]),
    "Amazon-3M": ([[5, 6], [8], [10], [12]], [10, 13, 16], 15, 128, [0.2, 0.25, 0.3, 0.5]),
}
"""Layers, levels as powers of two, epochs, tokens, dropouts; for all: rates 1e-4 and 1e-3, batches of 256."""


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
    assert (clusters, config.optim.steps) == X_TABLE_2_AND_4_2[str(preset.dataset)]
    assert config.encoder.max_tokens == 128
    assert config.optim.lr in (4e-5, 5e-5, 6e-5, 8e-5)
    assert 25 < labels(preset) / clusters < 100  # about 100 labels below a cluster at most, as Parabel's leaves
    assert config.optim.batch_size * config.optim.accumulate == 256
    assert config.optim.warmup < config.optim.steps
    assert config.search.beam < clusters


@pytest.mark.parametrize(("preset", "config"), of("lightxml"))
def test_lightxml(preset: Preset, config: Any) -> None:
    assert (config.mode == "groups") == (labels(preset) > 400_000)
    dimension = config.bottleneck if config.mode == "groups" else None
    optim = config.optim
    found = (optim.epochs, optim.batch_size * optim.accumulate, dimension, config.encoder.max_tokens)
    assert found == LIGHT_TABLE_1[str(preset.dataset)]
    assert (optim.lr, optim.weight_decay, optim.schedule, config.dropout) == (1e-4, 0.01, "constant", 0.5)
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
    coarse, fine, lr, steps, tokens, alpha, penalty = XR_TABLE_7[str(preset.dataset)]
    preliminary = [width for width in widths if width <= config.finest]
    assert "-".join(map(str, preliminary)) == coarse
    assert "-".join(map(str, (*config.fine_tree.widths, labels(preset)))) == fine
    assert (config.optim.lr, sum(config.steps), config.encoder.max_tokens) == (lr, steps, tokens)
    assert config.encoder.dropout == config.dropout == 0.1
    assert config.negative == (1.0 if alpha is None else alpha)
    assert config.ranker.solver.c_positive == 1 / penalty
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
    layers, powers, epochs, tokens, dropouts = CASCADE_TABLE_9[str(preset.dataset)]
    assert [list(joined) for joined in config.layers] == layers
    assert list(inner) == [2**power for power in powers]
    assert (config.optim.epochs, config.encoder.max_tokens, list(config.dropouts)) == (epochs, tokens, dropouts)
    assert (config.optim.lr, config.optim.head_lr_factor) == (1e-4, 10.0)
    assert [max(joined) for joined in config.layers] == sorted(max(joined) for joined in config.layers)
    assert config.layers[-1] == (12,)
    widths = [*inner, labels(preset)]
    assert all(beam <= width for beam, width in zip(config.beams, inner, strict=True))
    sizes = [beam * below / above for beam, above, below in zip(config.beams, inner, widths[1:], strict=True)]
    assert all(200 < size < 5_000 for size in sizes)  # Table 9: shortlists of 2^8 to 2^12
    assert config.optim.batch_size * config.optim.accumulate == 256
    assert config.optim.warmup + config.optim.cool_down < 1
    assert preset.published[1].models == "3 models, tf-idf"

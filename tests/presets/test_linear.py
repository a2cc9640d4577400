from __future__ import annotations

import pytest

from treetop.presets.linear import LINEAR
from treetop.presets.preset import Preset
from treetop.presets.registry import resolve


@pytest.mark.parametrize("preset", LINEAR, ids=lambda preset: preset.name)
def test_every_preset_is_a_valid_configuration_without_torch(preset: Preset) -> None:
    config = resolve(preset.method, preset_name=preset.name)
    trees = getattr(config, "trees", 1)
    assert trees == (3 if preset.name in ("parabel", "bonsai") else 1)


def test_the_published_trees() -> None:
    parabel, bonsai = (resolve("xr-linear", preset_name=name) for name in ("parabel", "bonsai"))
    assert (parabel.tree.kind, parabel.tree.branching, parabel.tree.max_leaf) == ("balanced", 2, 100)
    assert parabel.representation == bonsai.representation == "pifa-plain"
    assert (bonsai.tree.kind, bonsai.tree.branching, bonsai.tree.max_depth) == ("kmeans", 100, 3)

from __future__ import annotations

import pytest

from treetop.predictions import FUSERS
from treetop.presets.papers import PAPERS
from treetop.presets.preset import Preset


@pytest.mark.parametrize("preset", PAPERS, ids=lambda preset: preset.name)
def test_the_ensemble_is_the_papers(preset: Preset) -> None:
    expected = 9 if preset.method == "x-transformer" else 3
    assert preset.published[0].models == f"{expected} models"
    assert len(preset.members) == len({member.name for member in preset.members}) == expected
    small = preset.dataset in ("Eurlex-4K", "Wiki10-31K", "AmazonCat-13K")
    encoders = {member.values.get("encoder", {}).get("name") for member in preset.members}
    assert len(encoders) == (3 if small or expected == 9 else 1)
    assert len({member.seed for member in preset.members}) == (1 if small or expected == 9 else 3)
    assert preset.members[0].values.get("encoder", {}).get("name") in (None, preset.values["encoder"]["name"])
    assert preset.fuser in FUSERS

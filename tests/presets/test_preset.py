from __future__ import annotations

import dataclasses

import pytest

from treetop.presets.preset import Preset
from treetop.presets.registry import PRESETS


def test_a_preset_is_fixed_and_says_where_it_is_from() -> None:
    chosen = PRESETS["parabel"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        chosen.method = "one-vs-all"  # type: ignore[misc]
    assert all(entry.source and entry.summary for entry in PRESETS.values())
    assert Preset("a", "xr-linear", "what", "where", {}).published == ()

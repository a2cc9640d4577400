"""All named settings."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from treetop.errors import ConfigError
from treetop.presets.encoders import ENCODERS
from treetop.presets.linear import LINEAR
from treetop.presets.papers import PAPERS
from treetop.presets.preset import Preset

__all__ = ["PRESETS", "preset", "preset_values"]

PRESETS = {entry.name: entry for entry in (*LINEAR, *ENCODERS, *PAPERS)}
"""By name."""


def preset(name: str) -> Preset:
    """A preset by name."""
    if name not in PRESETS:
        near = get_close_matches(name, PRESETS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(PRESETS)}"
        raise ConfigError(f"there is no preset '{name}'; {hint}")
    return PRESETS[name]


def preset_values(name: str, method: str) -> dict[str, Any]:
    """The settings of a preset, which has to be one for that method."""
    chosen = preset(name)
    if chosen.method != method:
        raise ConfigError(f"preset '{name}' is for the method '{chosen.method}', not '{method}'")
    return chosen.values

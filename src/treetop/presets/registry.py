"""All named settings, and how a configuration comes about: defaults, preset, TOML file, `--set` assignments."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from treetop.config import from_dict, merge, override, read_toml, to_dict
from treetop.errors import ConfigError
from treetop.methods.registry import method_class, method_record
from treetop.presets.linear import LINEAR
from treetop.presets.papers import PAPERS
from treetop.presets.preset import Preset

__all__ = ["PRESETS", "method_of", "preset", "resolve"]

PRESETS = {entry.name: entry for entry in (*LINEAR, *PAPERS)}
"""By name."""


def preset(name: str) -> Preset:
    """A preset by name."""
    if name not in PRESETS:
        near = get_close_matches(name, PRESETS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(PRESETS)}"
        raise ConfigError(f"there is no preset '{name}'; {hint}")
    return PRESETS[name]


def method_of(method: str | None, preset_name: str | None, config_file: str | None) -> str:
    """The method to train: the one asked for, the preset's, the one that a TOML file names, or XR-Linear."""
    if method is not None:
        return method
    if preset_name is not None:
        return preset(preset_name).method
    named = None if config_file is None else read_toml(config_file).get("method")
    return str(named or "xr-linear")


def resolve(
    method: str,
    *,
    preset_name: str | None = None,
    config_file: str | None = None,
    assignments: tuple[str, ...] = (),
    encoder: str | None = None,
) -> Any:
    """The configuration of a method: preset, TOML file, encoder, and last assignments such as `tree.max_leaf=50`."""
    values: dict[str, Any] = {}
    if preset_name is not None:
        chosen = preset(preset_name)
        if chosen.method != method:
            raise ConfigError(f"preset '{preset_name}' is for the method '{chosen.method}', not '{method}'")
        values = chosen.values
    config_class = method_class(method).config_class
    if config_file is not None:
        file = read_toml(config_file)
        named = file.pop("method", method)
        if named != method:
            raise ConfigError(f"{config_file} is for the method '{named}', not '{method}'")
        values = merge(values, file)
    config = from_dict(config_class, merge(to_dict(config_class()), values))
    if encoder is not None:
        if not method_record(method).has("encoder"):
            raise ConfigError(f"method '{method}' has no encoder; leave out --encoder, or choose a transformer method")
        config = replace(config, encoder=replace(config.encoder, name=encoder))
    return override(config, list(assignments))

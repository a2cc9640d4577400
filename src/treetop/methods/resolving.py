"""How the configuration of a method comes about where its settings are words: preset, TOML file, assignments."""

from __future__ import annotations

from typing import Any

from treetop.config import adjust, from_dict, merge, override, read_toml
from treetop.errors import ConfigError
from treetop.methods.registry import method_class, method_record
from treetop.presets.registry import preset, preset_values

__all__ = ["method_of", "resolve"]


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
    assignments: str | tuple[str, ...] = (),
    encoder: str | None = None,
) -> Any:
    """The configuration of a method: preset, TOML file, encoder, and last assignments such as `tree.max_leaf=50`."""
    config_class = method_class(method).config_class
    values = {} if preset_name is None else preset_values(preset_name, method)
    if config_file is not None:
        file = read_toml(config_file)
        named = file.pop("method", method)
        if named != method:
            raise ConfigError(f"{config_file} is for the method '{named}', not '{method}'")
        values = merge(values, file)
    config = from_dict(config_class, values)
    if encoder is not None:
        if not method_record(method).has("encoder"):
            raise ConfigError(f"method '{method}' has no encoder; leave out --encoder, or choose a transformer method")
        config = adjust(config, {"encoder": {"name": encoder}})
    return override(config, assignments)

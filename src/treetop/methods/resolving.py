"""How the configuration of a method comes about where its settings are words: preset, TOML file, assignments."""

from __future__ import annotations

from typing import Any

from treetop.config import adjust, from_dict, merge, override, read_toml
from treetop.errors import ConfigError
from treetop.methods.registry import method_class, method_record
from treetop.presets.registry import preset, preset_values
from treetop.tagging import shown

__all__ = ["decide", "resolve"]


def resolve(
    method: str,
    *,
    preset_name: str | None = None,
    config_file: str | None = None,
    assignments: str | tuple[str, ...] = (),
    encoder: str | None = None,
) -> Any:
    """The configuration of a method: preset, TOML file, encoder, and last assignments such as `tree.max_leaf=50`."""
    return decide(method, preset_name, config_file, assignments, encoder)[1]


def decide(
    method: str | None = None,
    preset_name: str | None = None,
    config_file: str | None = None,
    assignments: str | tuple[str, ...] = (),
    encoder: str | None = None,
) -> tuple[str, Any]:
    """The method and its configuration: as asked for, the preset's, as a TOML file names it, or XR-Linear."""
    file = {} if config_file is None else read_toml(config_file)
    named = file.pop("method", None)
    if not isinstance(named, str | None):
        raise ConfigError(f"{config_file} says that the method is {shown(named)}; give its name, as 'xr-linear'")
    name = method or (preset(preset_name).method if preset_name else named or "xr-linear")
    config_class = method_class(name).config_class
    values = {} if preset_name is None else preset_values(preset_name, name)
    if named not in (None, name):
        raise ConfigError(f"{config_file} is for the method '{named}', not '{name}'")
    config = from_dict(config_class, merge(values, file))
    if encoder is not None:
        record = method_record(name)
        if not (record.has("encoder") or (record.has("members") and config.members)):
            raise ConfigError(f"method '{name}' has no encoder; leave out --encoder, or choose a transformer method")
        config = adjust(config, {"encoder": {"name": encoder} if record.has("encoder") else encoder})
    return name, override(config, assignments)

"""How a method is made and shown: settings by name, as scikit-learn has them, and what differs from the defaults."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from treetop.config import adjust, difference, from_dict, merge, to_dict, unfold
from treetop.errors import ConfigError
from treetop.presets.registry import preset_values
from treetop.runtime import Runtime

__all__ = ["Configured"]

C = TypeVar("C")
S = TypeVar("S", bound="Configured[Any]")


class Configured(Generic[C]):
    """Something with a configuration and a runtime, made of settings by name.

    `XRLinear(preset="thorough", trees=3, tree={"max_leaf": 50})`: a preset or a ready configuration first, then the
    settings, each a value, a table or a ready configuration of a part, converted as strictly as a TOML file. A name
    inside a table may also be written `tree__max_leaf=50`.
    """

    name: ClassVar[str]
    """As on the command line and in model folders."""
    config_class: ClassVar[type[Any]]

    def __init__(
        self,
        config: C | None = None,
        *,
        preset: str | None = None,
        runtime: Runtime | None = None,
        **settings: Any,
    ) -> None:
        if config is not None and not isinstance(config, self.config_class):
            expected, given = self.config_class.__name__, type(config).__name__
            hint = "settings and a preset go by name, as trees=3 or preset='thorough'"
            raise ConfigError(f"{type(self).__name__} takes a {expected}, not a {given}; {hint}")
        if config is not None and preset is not None:
            raise ConfigError(f"a configuration and the preset '{preset}' are given; give one of them")
        _check_runtime(runtime, settings)
        values = merge({} if preset is None else preset_values(preset, self.name), unfold(settings))
        self.config: C = from_dict(self.config_class, values) if config is None else adjust(config, values)
        self.runtime = runtime or Runtime()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All settings and other arguments by name; those of parts, as `tree__max_leaf`, if `deep`."""
        own = {name: getattr(self.config, name) for name in to_dict(self.config)} | self._arguments()
        return own if not deep else own | {name: value for part in own for name, value in _inner(part, own[part])}

    def set_params(self: S, **params: Any) -> S:
        """Change settings and other arguments; a model that had learned has to be fitted again."""
        arguments, changed = self._arguments(), unfold(params)
        for name in arguments.keys() & changed.keys():
            value = changed.pop(name)
            arguments[name] = adjust(arguments[name], value) if isinstance(value, Mapping) else value
        self.__dict__ = type(self)(config=self.config, **arguments, **changed).__dict__
        return self

    def __repr__(self) -> str:
        """The call that makes the same, with what differs from the defaults."""
        parts = [f"{name}={value!r}" for name, value in difference(self.config, self.config_class()).items()]
        for name, value in self._arguments().items():
            if isinstance(value, Runtime):
                seldom = ", ".join(f"{inner}={one!r}" for inner, one in difference(value, Runtime()).items())
                parts += [f"{name}=Runtime({seldom})"] if seldom else []
            elif value is not None:
                parts.append(f"{name}={'...' if isinstance(value, np.ndarray) else repr(value)}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str:
        """A few lines for notebooks: the call, and below it what is known of the model."""
        rows = "".join(
            f"<tr><td>{_html(name)}</td><td>{_html(value)}</td></tr>" for name, value in self._facts().items()
        )
        return f"<code>{_html(repr(self))}</code>" + (f"<table>{rows}</table>" if rows else "")

    def _arguments(self) -> dict[str, Any]:
        """What the constructor takes beside the configuration, as it is now."""
        return {"runtime": self.runtime}

    def _facts(self) -> dict[str, Any]:
        """What a notebook shows below the call."""
        return {}


def _check_runtime(runtime: Any, settings: Mapping[str, Any]) -> None:
    """Where and how fast is no setting of a method, though many would write it there."""
    if not isinstance(runtime, Runtime | None):
        raise ConfigError(f"runtime is {runtime!r}; give a Runtime, as Runtime(seed=1, threads=2)")
    misplaced = next((name for name in settings if name in Runtime.__dataclass_fields__), None)
    if misplaced is not None:
        raise ConfigError(f"{misplaced} belongs to the runtime: runtime=Runtime({misplaced}={settings[misplaced]!r})")


def _inner(name: str, value: Any) -> list[tuple[str, Any]]:
    """The settings of a part, and of its parts, by their long names."""
    if not hasattr(value, "__dataclass_fields__"):
        return []
    inner = [(f"{name}__{field}", getattr(value, field)) for field in value.__dataclass_fields__]
    return inner + [deeper for long_name, part in inner for deeper in _inner(long_name, part)]


def _html(value: Any) -> str:
    return html.escape(f"{value:,}" if isinstance(value, int) else str(value))

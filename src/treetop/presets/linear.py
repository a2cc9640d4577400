"""Named settings of the linear methods: each is the difference from the method's defaults."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from treetop.config import from_dict, merge, override, read_toml, to_dict
from treetop.errors import ConfigError
from treetop.methods import method_class

__all__ = ["PRESETS", "Preset", "preset", "resolve"]


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings that go together."""

    name: str
    method: str
    summary: str
    """What it is good for, in one line."""
    source: str
    """Where the numbers are from."""
    values: dict[str, Any]
    """As in a TOML file; what is not named keeps its default."""


PRESETS = {
    entry.name: entry
    for entry in (
        Preset(
            "xr-linear",
            "xr-linear",
            "one balanced tree, 16 children per node: fast, and the default",
            "PECOS 1.2 defaults: max_leaf_size 100, nr_splits 16, beam 10, l3-hinge, threshold 0.1",
            {},
        ),
        Preset(
            "accurate",
            "xr-linear",
            "one shallow tree with large leaves and more of its weights: better on the tail, twice the training",
            "chosen on eurlex57k's development split, see docs/experiments.md",
            {"tree": {"max_leaf": 200, "branching": 64}, "linear": {"solver": {"threshold": 0.05}}},
        ),
        Preset(
            "parabel",
            "xr-linear",
            "three binary trees that vote",
            "Prabhu et al., WWW 2018, and omikuji's defaults: leaves of 100, C 1, 20 iterations, squared-hinge scores",
            {
                "trees": 3,
                "tree": {"branching": 2},
                "linear": {"solver": {"max_iter": 20}, "search": {"link": "l2-hinge"}},
            },
        ),
        Preset(
            "bonsai",
            "xr-linear",
            "three shallow trees with free cluster sizes, 100 children per node: better on the tail, slower",
            "Khandagale et al., Machine Learning 2020, and omikuji: k 100, depth 3, C 1, 20 iterations",
            {
                "trees": 3,
                "tree": {"kind": "kmeans", "branching": 100, "max_depth": 3},
                "linear": {"solver": {"max_iter": 20}, "search": {"link": "l2-hinge"}},
            },
        ),
        Preset(
            "dismec",
            "one-vs-all",
            "every label against all texts: the reference for small label sets",
            "Babbar and Schölkopf, WSDM 2017: C 1, weights below 0.01 dropped",
            {},
        ),
    )
}


def preset(name: str) -> Preset:
    """A preset by name."""
    if name not in PRESETS:
        near = get_close_matches(name, PRESETS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(PRESETS)}"
        raise ConfigError(f"there is no preset '{name}'; {hint}")
    return PRESETS[name]


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
        values = merge(values, read_toml(config_file))
    config = from_dict(config_class, merge(to_dict(config_class()), values))
    if encoder is not None:
        if not hasattr(config, "encoder"):
            raise ConfigError(f"method '{method}' has no encoder; leave out --encoder, or choose a transformer method")
        config = replace(config, encoder=replace(config.encoder, name=encoder))
    return override(config, list(assignments))

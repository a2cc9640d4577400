from __future__ import annotations

import pytest

from treetop.errors import ConfigError
from treetop.methods import METHODS
from treetop.presets.registry import PRESETS, preset, preset_values


def test_presets_are_filed_under_their_names_and_for_methods_that_exist() -> None:
    assert all(name == entry.name and entry.method in METHODS for name, entry in PRESETS.items())


def test_mistakes() -> None:
    with pytest.raises(ConfigError, match="did you mean 'bonsai'"):
        preset("bonzai")
    with pytest.raises(ConfigError, match="is for the method 'one-vs-all', not 'xr-linear'"):
        preset_values("dismec", "xr-linear")

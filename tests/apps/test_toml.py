from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps.toml import all_settings, lines
from treetop.config import read_toml
from treetop.errors import ConfigError
from treetop.methods.catalogue import METHODS
from treetop.methods.resolving import decide
from treetop.presets.registry import PRESETS


@pytest.mark.parametrize("name", [*METHODS, *PRESETS])
def test_all_settings_are_a_file_that_train_reads(name: str, tmp_path: Path) -> None:
    path = tmp_path / "all.toml"
    path.write_text(all_settings(name), encoding="utf-8")
    expected = decide(name) if name in METHODS else decide(preset_name=name)
    assert decide(config_file=str(path)) == expected


def test_every_setting_says_what_it_is() -> None:
    shown = [line for line in all_settings("xr-linear").splitlines() if " =" in line and "method" not in line]
    assert len(shown) > 30
    assert all("  # " in line for line in shown)
    assert any(line.startswith("# max_features =") and "None for all" in line for line in shown)  # not set


def test_values_come_before_the_tables_inside(tmp_path: Path) -> None:
    values = {"tree": {"max_leaf": 5}, "trees": 3, "seed": None, "name": 'a "b"'}
    (tmp_path / "t.toml").write_text("\n".join(lines(values)))
    assert read_toml(tmp_path / "t.toml") == {"trees": 3, "name": 'a "b"', "tree": {"max_leaf": 5}}


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'thorough'"):
        all_settings("thorogh")

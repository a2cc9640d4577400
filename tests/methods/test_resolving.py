from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from treetop.config import from_dict, read_toml
from treetop.errors import ConfigError
from treetop.methods import METHODS, method_class, resolving
from treetop.methods.resolving import decide, resolve
from treetop.presets.registry import PRESETS, preset


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_valid_configuration(name: str) -> None:
    method = preset(name).method
    if METHODS[method].extra == "neural":
        pytest.importorskip("transformers", reason="needs the extra 'neural'")
    assert isinstance(resolve(method, preset_name=name), method_class(method).config_class)


def test_precedence(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("trees = 5\n[tree]\nmax_leaf = 30\n")
    config = resolve("xr-linear", preset_name="parabel", config_file=str(file), assignments=("tree.max_leaf=7",))
    assert (config.trees, config.tree.max_leaf, config.tree.branching) == (5, 7, 2)


def test_a_default_of_the_method_survives_a_partial_table(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("[tfidf]\nmin_df = 2\n")
    config = resolve("xr-linear", config_file=str(file))
    assert config.tfidf.sublinear_tf
    assert config.tfidf.min_df == 2


def test_one_assignment_needs_no_list() -> None:
    assert resolve("xr-linear", assignments="trees=3") == resolve("xr-linear", assignments=("trees=3",))


def test_a_configuration_made_of_a_preset_is_the_resolved_one() -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    entry = preset("xr-transformer-eurlex-4k")
    config_class = method_class(entry.method).config_class
    assert from_dict(config_class, entry.values) == resolve(entry.method, preset_name=entry.name)


def test_mistakes() -> None:
    with pytest.raises(ConfigError, match="is for the method 'one-vs-all'"):
        resolve("xr-linear", preset_name="dismec")


def test_a_file_may_name_its_method(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('method = "one-vs-all"\n')
    assert decide(config_file=str(file))[0] == "one-vs-all"
    assert decide(preset_name="dismec", config_file=str(file))[0] == "one-vs-all"
    assert decide(preset_name="bonsai")[0] == "xr-linear"
    assert decide("one-vs-all")[0] == "one-vs-all"
    assert decide()[0] == "xr-linear"
    with pytest.raises(ConfigError, match="is for the method 'one-vs-all', not 'xr-linear'"):
        decide(preset_name="bonsai", config_file=str(file))
    assert type(resolve("one-vs-all", config_file=str(file))) is method_class("one-vs-all").config_class
    with pytest.raises(ConfigError, match="is for the method 'one-vs-all', not 'xr-linear'"):
        resolve("xr-linear", config_file=str(file))


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "c.toml"
    file.write_text('method = "one-vs-all"\n')
    opened: list[str] = []

    def counted(path: str) -> Any:
        opened.append(path)
        return read_toml(path)

    monkeypatch.setattr(resolving, "read_toml", counted)
    decide(config_file=str(file))
    assert opened == [str(file)]

from __future__ import annotations

import json
from pathlib import Path

import pytest

from treetop.errors import ConfigError, StoreError
from treetop.methods.catalogue import METHODS
from treetop.methods.registry import load, method_class


@pytest.mark.parametrize("name", METHODS)
def test_names_lead_to_classes_of_that_name(name: str) -> None:
    if METHODS[name].extra == "neural":
        pytest.importorskip("transformers", reason="needs the extra 'neural'")
    found = method_class(name)
    assert found.name == name
    assert (found.__name__, found.config_class.__name__) == METHODS[name].public_names


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'one-vs-all'"):
        method_class("one-vs-al")
    with pytest.raises(ConfigError, match="choose one of xr-linear"):
        method_class("quantum")


def test_a_method_of_another_version(tmp_path: Path) -> None:
    card = {"method": "quantum", "format": 1, "treetop": "7.0", "config": {}, "training": {"texts": 3, "labels": 2}}
    (tmp_path / "model.json").write_text(json.dumps(card))
    with pytest.raises(StoreError, match=r"method 'quantum' is unknown here"):
        load(tmp_path)

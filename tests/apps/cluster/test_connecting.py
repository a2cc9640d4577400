from __future__ import annotations

import sys
from pathlib import Path

import pytest

from on_ray import train, write_texts
from treetop.apps.cluster.connecting import connected
from treetop.errors import ConfigError, MissingExtraError


@pytest.mark.parametrize("where", ["local", "local:", "local:0", "local:x", "local:65", "locally"])
def test_a_number_of_local_nodes_is_asked_for(where: str) -> None:
    with pytest.raises(ConfigError, match="local:3 for three nodes"), connected(where):
        pass


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"treetop-xmc\[ray\]"), connected("auto"):
        pass


@pytest.mark.slow
def test_no_cluster_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    write_texts(tmp_path / "train.jsonl")
    trained = train(tmp_path / "train.jsonl", tmp_path / "m", "--cluster", "127.0.0.1:1")
    assert trained.returncode == 2
    assert trained.stderr.startswith("error: there is no Ray cluster at '127.0.0.1:1'")

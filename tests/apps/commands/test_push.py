"""`treetop push`, as people use it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub")

import hub_stand_in
from shell import run


def test_a_model_goes_to_the_hub_and_comes_back(model: Path, folder: Path, tmp_path: Path) -> None:
    with hub_stand_in.running() as hub:
        hub_of = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
        pushed = run("push", model, "owner/toys", "--private", HF_TOKEN=hub_stand_in.TOKEN, **hub_of)
        assert pushed.returncode == 0, pushed.stderr
        assert pushed.stdout.strip().startswith(f"{hub.address}/owner/toys/commit/")
        assert hub.repositories["owner/toys"].private
        refused = run("pull", "owner/toys", tmp_path / "pulled", HF_TOKEN="", **hub_of)
        assert (refused.returncode, len(refused.stderr.strip().splitlines())) == (2, 1)
        pulled = run("pull", "hf:owner/toys", tmp_path / "pulled", HF_TOKEN=hub_stand_in.TOKEN, **hub_of)
        assert pulled.returncode == 0, pulled.stderr
        ask = ("predict", "hf:owner/toys", folder / "test.jsonl")
        found = run(*ask, HF_TOKEN=hub_stand_in.TOKEN, **hub_of)
    assert found.returncode == 0, found.stderr
    assert found.stdout == run("predict", tmp_path / "pulled", folder / "test.jsonl").stdout

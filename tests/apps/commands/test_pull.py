"""`treetop pull`: its mistakes; that it works is shown beside `treetop push`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub")

import hub_stand_in
from shell import complain


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert "user/name" in complain(["pull", "laws", out], monkeypatch, capfd)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").touch()
    with hub_stand_in.running() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        assert "no such repository" in complain(["pull", "owner/laws", out], monkeypatch, capfd)
        assert "not a model folder" in complain(["pull", "owner/laws", tmp_path / "taken"], monkeypatch, capfd)
    assert not out.exists()

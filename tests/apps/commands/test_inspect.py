"""`treetop inspect`."""

from __future__ import annotations

import shutil
from pathlib import Path

from shell import run


def test_a_model_folder_is_shown(model: Path) -> None:
    shown = run("inspect", model)
    assert shown.returncode == 0, shown.stderr
    assert "xr-linear" in shown.stdout
    assert "label " in shown.stdout


def test_every_byte_of_a_model_is_compared_with_what_was_saved(model: Path, tmp_path: Path) -> None:
    shown = run("inspect", model, "--verify")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("verified: ")
    copy = shutil.copytree(model, tmp_path / "copy")
    (copy / "notes [draft].txt").touch()
    weights = next(copy.glob("ranker-0/level-*"))
    assert "added since: notes [draft].txt" in run("inspect", copy, "--verify").stdout
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    refused = run("inspect", copy, "--verify")
    assert refused.returncode == 2
    assert f"error: {weights}: the file is damaged" in refused.stderr

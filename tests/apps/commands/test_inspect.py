"""`treetop inspect`."""

from __future__ import annotations

from pathlib import Path

from shell import run


def test_a_model_folder_is_shown(model: Path) -> None:
    shown = run("inspect", model)
    assert shown.returncode == 0, shown.stderr
    assert "xr-linear" in shown.stdout
    assert "label " in shown.stdout

from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps.demo import run_demo
from treetop.methods import load
from treetop.runtime import Runtime


@pytest.mark.slow
def test_the_demo_runs_and_leaves_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_demo(tmp_path / "model", Runtime(threads=2))
    shown = capsys.readouterr().out
    assert "✓" in shown
    assert "ndcg" in shown
    assert load(tmp_path / "model").predict(["sort a list of numbers"], k=3)[0]

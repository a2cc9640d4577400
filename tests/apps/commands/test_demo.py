"""`treetop demo`."""

from __future__ import annotations

from pathlib import Path

import pytest

from shell import run
from treetop.methods import load


@pytest.mark.slow
def test_the_linear_half_leaves_a_model(tmp_path: Path) -> None:
    done = run("demo", "--no-transformer", "--out", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert "ndcg" in done.stdout
    assert load(tmp_path / "model").predict(["sort a list of numbers"], k=3)[0]

from __future__ import annotations

from pathlib import Path

import pytest

from small_release import ordered
from treetop.apps.reproducing import Made, show
from treetop.apps.reproducing.table import say


def test_ours_stand_above_the_papers(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    wanted = ordered("xr-transformer-wiki10-31k", data)
    say(wanted)
    metrics = dict.fromkeys(("p@1", "p@3", "p@5", "psp@1", "psp@3", "psp@5"), 0.5)
    show(wanted, [Made("bert", metrics, 0.001), Made("all, rank_average", metrics, 12.34)])
    said = capfd.readouterr()
    rows = [line.split() for line in said.out.splitlines()]
    assert ["bert", *["50.00"] * 6, "4", "s"] in rows
    assert ["all,", "rank_average", *["50.00"] * 6, "12.3", "h"] in rows
    assert ["paper:", "3", "models", "88.69", "80.17", "70.91", "12.25", "15.00", "16.75", "1.5", "h"] in rows
    assert ["paper:", "1", "model", "88.00", "78.70", "69.10", "–", "–", "–", "0.5", "h"] in rows
    assert "Table 2" in said.err
    assert "8 V100" in said.err
    assert "models: bert, roberta, xlnet" in said.err

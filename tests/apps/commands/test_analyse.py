"""`treetop analyse`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from shell import write_jsonl
from treetop.apps.cli import app
from treetop.data import Dataset
from treetop.runtime import Runtime


def test_pictures_of_a_cascade_are_drawn(toy_train: Dataset, toy_test: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra 'neural'")
    pytest.importorskip("matplotlib", reason="needs the extra 'plots'")
    from tiny_methods import cascade

    model = cascade()(Runtime(threads=1)).fit(toy_train)
    model.save(tmp_path / "model")
    write_jsonl(tmp_path / "test.jsonl", toy_test)
    data, pictured = tmp_path / "test.jsonl", tmp_path / "p"
    arguments = ("analyse", tmp_path / "model", "--data", data, "--out", pictured, "--limit", 9)
    done = CliRunner().invoke(app, [*map(str, arguments), "--threads", "1"])
    assert done.exit_code == 0, done.output
    assert "of the true nodes are kept" in done.output
    assert "no likeness of layers: 9 texts cannot" in " ".join(done.output.split())
    assert "entropy before" in " ".join(done.output.split())
    assert sorted(path.name for path in pictured.iterdir()) == ["attention.png", "entropy.png", "recall.png"]

from __future__ import annotations

from pathlib import Path

import pytest

from treetop.apps import tables
from treetop.data import Dataset
from treetop.methods.one_vs_all import OneVsAll
from treetop.methods.xr_linear import XRLinear
from treetop.predictions import Suggestion


def test_a_training_that_may_not_fit_is_warned_of(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "available_memory", lambda: 10)
    tables.warn_of_memory(XRLinear(), 10)
    assert capsys.readouterr().err == ""
    tables.warn_of_memory(XRLinear(), 2000)
    said = " ".join(capsys.readouterr().err.split())
    assert "needed, 10 bytes available" in said
    assert "tfidf.min_df" in said


def test_suggestions_mark_what_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    found = [Suggestion("apple [green]", 0.9), Suggestion("pear", 0.1)]
    tables.show_suggestions("a text\nof [two] lines " + "x" * 400, found, ["apple [green]", "plum"])
    shown = capsys.readouterr().out
    assert "✓ apple [green]" in shown
    assert "also right: plum" in shown
    assert "of [two] lines" in " ".join(shown.split())


def test_a_model_without_a_tree_can_be_shown(
    toy_train: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = OneVsAll().fit(toy_train)
    model.save(tmp_path / "m")
    tables.show_model(model, tmp_path / "m", depth=2)
    assert "one-vs-all" in capsys.readouterr().out

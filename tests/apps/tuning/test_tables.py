"""What a search found, in the terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from treetop.apps.tuning import Outcome
from treetop.apps.tuning.choosing import Chosen
from treetop.apps.tuning.limits import Limits
from treetop.apps.tuning.tables import say_chosen, show_outcome
from treetop.methods.xr_linear import XRLinearConfig


def test_one_line_says_what_was_chosen(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> None:
    say_chosen(Chosen(outcome.space.config(outcome.chosen.setting), outcome, 120), 400)
    (said,) = capsys.readouterr().err.strip().splitlines()
    assert said.startswith(f"chosen: {outcome.space.words(outcome.chosen.setting)} (P@1/3/5 ")
    assert "on 120 held-out texts" in said
    assert "; 16 trainings," in said


def test_the_line_says_what_the_budget_and_the_limits_did_not_allow(
    outcome: Outcome, capsys: pytest.CaptureFixture[str]
) -> None:
    short = replace(outcome, texts=9000, limits=Limits(megabytes=1e-6))
    say_chosen(Chosen(outcome.space.config(short.chosen.setting), short, 120), 9000)
    said = capsys.readouterr().err
    assert "the budget allowed trials on 400 texts only" in said
    assert "no setting that was tried keeps to 1e-06 MB, this is the nearest" in said


def test_too_few_texts_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say_chosen(Chosen(XRLinearConfig(), None, 0), 112)
    said = capsys.readouterr().err
    assert said == "112 texts are too few to choose settings on (200 are needed): the default is trained\n"


def test_tables(outcome: Outcome, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treetop.apps.tuning.tables.out.width", 140, raising=False)
    show_outcome(outcome)
    said = capsys.readouterr().out
    assert "the best settings, trained on 400 texts" in said
    assert "what mattered" in said
    for question in outcome.mattered():
        assert question.answer.name in said

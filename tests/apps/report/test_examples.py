"""The worst errors on the page."""

from __future__ import annotations

from dataclasses import replace

from treetop.apps.report import Report
from treetop.apps.report.examples import worst_errors
from treetop.apps.report.markup import text


def test_texts_stand_beside_what_was_true_and_what_was_suggested(report: Report) -> None:
    made = worst_errors(report)
    mistake = report.parts[1].mistakes[0]
    assert text(mistake.text) in made
    assert f'<li class="wrong">{text(mistake.suggested[0].text)} {mistake.suggested[0].score:.2f}</li>' in made
    told = next(mistake for mistake in report.parts[1].mistakes if mistake.reasons)
    assert f"<b>{text(told.reasons[0].word)}</b> {told.reasons[0].contribution:+.2f}" in made
    assert "Nothing true among the ten best" in made


def test_without_errors_there_is_no_section(report: Report) -> None:
    perfect = replace(report, parts=tuple(replace(part, mistakes=[]) for part in report.parts))
    assert worst_errors(perfect) == ""

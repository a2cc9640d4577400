"""The sections of the page."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from treetop.apps.report import Report
from treetop.apps.report.sections import SECTIONS


def made(name: str, report: Report) -> str:
    return SECTIONS[name][1](report)


def test_differences_are_paired_and_marked(report: Report) -> None:
    page = made("quality", report)
    verdict = report.comparison.metrics["p@5"].against(1, 0)
    assert verdict is not None
    assert f"{100 * verdict.value:+.2f} ± {100 * verdict.standard_error:.2f} ▼" in page
    assert "is best, but not beyond chance" in page


def test_one_model_has_a_table_by_number_of_suggestions(alone: Report) -> None:
    page = made("quality", alone)
    assert re.findall(r">(@\d+)<", page) == ["@1", "@3", "@5", "@10"]
    assert f"{100 * alone.comparison.metrics['p@3'].values[0]:.2f}" in page


def test_only_a_calibrated_model_has_chosen_thresholds(report: Report) -> None:
    page = made("thresholds", report)
    assert "calibrated: thresholds chosen on held-out texts" in page
    assert "poor: thresholds" not in page
    assert "Not calibrated: poor, saved.csv" in made("probabilities", report)


def test_every_label_has_an_f1_column_for_each_of_several(report: Report, alone: Report) -> None:
    assert re.findall(r'data-column="(f1[^"]*)"', made("every-label", report)) == ["f1-0", "f1-1", "f1-2"]
    assert re.findall(r'data-column="(f1[^"]*)"', made("every-label", alone)) == ["f1"]


def test_training_curves_are_drawn_where_there_are_some(report: Report) -> None:
    assert made("training", report) == ""
    records: list[dict[str, Any]] = [{"run": 0, "step": 1, "loss": 2.0}, {"run": 0, "step": 2, "loss": 1.0}]
    learned = replace(report.parts[0], about=report.parts[0].about | {"training_curve": records})
    assert "Loss of 1 runs" in made("training", replace(report, parts=(learned,)))


def test_settings_and_the_fingerprint_are_on_the_page(report: Report) -> None:
    assert "&quot;max_leaf&quot;: 8" in made("settings", report)
    assert report.data["fingerprint"] in made("data", report)


def test_files_alone_have_no_bands_and_no_cost(report: Report) -> None:
    from treetop.apps.report import gather

    field = replace(report.field, contenders=report.field.contenders[2:])
    bare = gather(field, "test")
    assert made("bands", bare) == made("cost", bare) == ""
    assert "training texts" not in made("every-label", bare)

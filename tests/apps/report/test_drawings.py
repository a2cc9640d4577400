"""The charts of a report."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from treetop.apps.comparing import Line
from treetop.apps.report import Report
from treetop.apps.report.drawings import (
    draw_bands,
    draw_calibration,
    draw_frequency,
    draw_metrics,
    draw_thresholds,
    draw_training,
)


def count(svg: str, tag: str) -> int:
    return len(list(ElementTree.fromstring(svg).iter(tag)))


def words(svg: str) -> str:
    return ElementTree.fromstring(svg).attrib["aria-label"]


def test_a_bar_for_each_metric_and_contender(report: Report) -> None:
    lines = {name: report.comparison.metrics[name] for name in ("p@1", "p@5")}
    svg = draw_metrics(lines, report.names)
    assert count(svg, "rect") == 6
    assert f"calibrated {100 * lines['p@1'].values[0]:.1f}" in words(svg)
    assert count(draw_bands(report.comparison.bands, report.names), "rect") == 3 * len(report.comparison.bands)


def test_figures_with_large_errors_stay_within_the_chart() -> None:
    for value in (0.6, 0.97):
        svg = draw_metrics({"p@1": Line((value,), (0.11,), {})}, ["one"])
        (note,) = (text for text in ElementTree.fromstring(svg).iter("text") if text.text == f"{100 * value:.1f}")
        assert float(note.attrib["y"]) >= 8


def test_calibration_has_a_point_for_each_bin(report: Report) -> None:
    svg = draw_calibration(report.parts)
    assert count(svg, "circle") == sum(len(part.diagram.size) for part in report.parts if part.diagram is not None)


def test_the_chosen_threshold_is_marked(report: Report) -> None:
    assert "chosen" in draw_thresholds(report.parts[0])
    assert "chosen" not in draw_thresholds(report.parts[1])


def test_label_frequencies_fall() -> None:
    svg = draw_frequency(np.array([0, 3, 900, 17, 1, 5]))
    assert words(svg) == "5 labels; the commonest has 900 training texts, 3 have at most five"
    (line,) = ElementTree.fromstring(svg).iter("polyline")
    heights = [float(point.split(",")[1]) for point in line.attrib["points"].split()]
    assert heights == sorted(heights)
    assert count(draw_frequency(np.array([1])), "polyline") == 1


def test_a_line_for_each_run_of_a_training() -> None:
    records = [{"run": run, "step": step, "loss": 1 / step} for run in (0, 1) for step in (10, 20)]
    svg = draw_training([*records, {"run": 1, "step": 20, "score": 0.5}])
    assert count(svg, "polyline") == 2
    assert words(svg) == "Loss of 2 runs of up to 20 steps, from 0.1 to 0.05"

"""Charts as SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from treetop.apps.report.charts import Axis, Chart, in_columns


def parts(svg: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(tag))


def test_places_are_proportional_and_up_is_more() -> None:
    chart = Chart("words", Axis(0, 10, ()), Axis(0, 1, ()), 400, 200)
    chart.line([(0, 0), (5, 0.5), (10, 1)])
    (line,) = parts(chart.svg(), "polyline")
    (x0, y0), (x1, y1), (x2, y2) = (tuple(map(float, point.split(","))) for point in line.attrib["points"].split())
    assert (x1 - x0, y0 - y1) == pytest.approx((x2 - x1, y1 - y2))
    assert x2 > x0
    assert y2 < y0


def test_a_logarithmic_axis_has_equal_steps_for_equal_ratios() -> None:
    axis = Axis(1, 1000, (), logarithmic=True)
    assert [axis.place(value) for value in (1, 10, 100, 1000)] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert axis.place(0) == 0


def test_words_of_data_are_text_and_never_markup() -> None:
    chart = Chart('"><script>', Axis(0, 1, (0.0,), "<b>"), Axis(0, 1, ()))
    chart.points([(0, 0, 2, "<img src=x>")])
    chart.bar(0, 1, 1, "<i>")
    chart.note(0, 0, "</svg>")
    svg = chart.svg()
    assert ElementTree.fromstring(svg).attrib["aria-label"] == '"><script>'
    assert {title.text for title in parts(svg, "title")} == {"<img src=x>", "<i>"}


def test_a_histogram_has_a_bar_for_each_range_as_high_as_its_count() -> None:
    bars = parts(in_columns("words", {"1": 10, "2–5": 40}, "labels"), "rect")
    heights = [float(bar.attrib["height"]) for bar in bars]
    assert heights[1] == pytest.approx(4 * heights[0], rel=0.02)


def test_an_error_is_drawn_if_there_is_one() -> None:
    chart = Chart("", Axis(0, 1, ()), Axis(0, 1, ()))
    chart.bar(0, 1, 0.5, "")
    assert 'class="error"' not in chart.svg()
    chart.bar(0, 1, 0.5, "", error=0.1)
    assert 'class="error"' in chart.svg()

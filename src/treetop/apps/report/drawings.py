"""The charts of a report: how sure, from where on, common and rare labels, and the course of a training."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.apps.comparing.comparison import Line
from treetop.apps.report.charts import Axis, Chart
from treetop.apps.report.gathering import Part
from treetop.metrics.breakdown import BAND_WORDS, BANDS

__all__ = [
    "CURVES",
    "draw_bands",
    "draw_calibration",
    "draw_frequency",
    "draw_metrics",
    "draw_thresholds",
    "draw_training",
]

_TENTHS = tuple(tenth / 10 for tenth in range(0, 11, 2))
CURVES = {"precision": "precision", "recall": "recall", "microf1": "micro-F1", "macrof1": "macro-F1"}
"""What is drawn by threshold, in the order of its colours."""


def _per_cent(value: float) -> str:
    return f"{100 * value:.0f}"


def draw_metrics(lines: dict[str, Line], names: Sequence[str]) -> str:
    """A bar for each metric and contender, with standard errors."""
    words = "; ".join(
        f"{metric}: " + ", ".join(f"{name} {100 * value:.1f}" for name, value in zip(names, line.values, strict=True))
        for metric, line in lines.items()
    )
    return _grouped(f"Metrics in per cent. {words}", lines, names, "per cent")


def draw_bands(bands: dict[str, Line], names: Sequence[str]) -> str:
    """The share of true labels found in each band of label frequency."""
    return _grouped(
        "Share of true labels found, by frequency of the label",
        {BAND_WORDS[band]: line for band, line in bands.items() if band != "unseen"},
        names,
        "% found",
    )


def _grouped(words: str, lines: dict[str, Line], names: Sequence[str], name: str) -> str:
    places = dict(enumerate(lines))
    tops = (
        value + (error or 0) for line in lines.values() for value, error in zip(line.values, line.errors, strict=True)
    )
    highest = min(1.0, ceil(10 * max(tops, default=1) + 0.2) / 10)
    x = Axis(0, len(lines), [place + 0.5 for place in places], "", lambda tick: places[int(tick)])
    chart = Chart(words, x, Axis(0, highest, _below(highest), name, _per_cent), 160 + 260 * min(len(names), 2), 240)
    width = 0.84 / max(len(names), 1)
    for place, (what, line) in enumerate(lines.items()):
        for number, value in enumerate(line.values):
            left, error = place + 0.08 + number * width, line.errors[number] or 0.0
            told = f"{names[number]}, {what}: {100 * value:.2f}" + (f" ± {100 * error:.2f}" if error else "")
            chart.bar(left, left + 0.9 * width, value, told, number, error)
            if len(names) <= 2:
                chart.note(left + 0.45 * width, min(value + error, highest), f"{100 * value:.1f}", lift=4)
    return chart.svg()


def draw_calibration(parts: Sequence[Part]) -> str:
    """What was said beside what was true; points grow with the number of suggestions they stand for."""
    x, y = (Axis(0, 1, _TENTHS, name, _per_cent) for name in ("score, %", "of those right, %"))
    errors = ", ".join(f"{part.name} {100 * part.diagram.error:.1f} %" for part in parts if part.diagram is not None)
    chart = Chart(f"Reliability diagram; expected calibration error: {errors}", x, y, height=320)
    chart.line([(0, 0), (1, 1)], kind="guide")
    for colour, part in enumerate(parts):
        if part.diagram is None:
            continue
        bins = list(zip(*(column.tolist() for column in part.diagram), strict=True))
        chart.line([(score, share) for score, share, _ in bins], colour)
        largest = max((size for _, _, size in bins), default=1)
        told = [
            (said, right, 2 + 6 * (size / largest) ** 0.5, _bin(part.name, said, right, size))
            for said, right, size in bins
        ]
        chart.points(told, colour)
    return chart.svg()


def _bin(name: str, said: float, right: float, size: int) -> str:
    return f"{name}: said {100 * said:.1f} %, right {100 * right:.1f} % of {size:,}"


def draw_thresholds(part: Part) -> str:
    """Precision, recall and F1 of what is accepted from each threshold on."""
    best = max(part.curve["microf1"])
    at = part.curve["threshold"][part.curve["microf1"].index(best)]
    x, y = (Axis(0, 1, _TENTHS, name, _per_cent) for name in ("threshold, %", "per cent"))
    words = f"{part.name}: precision, recall, micro-F1 and macro-F1 by threshold; micro-F1 is highest, {100 * best:.1f}"
    chart = Chart(f"{words}, at {at:.2f}", x, y, height=280)
    for one in part.chosen:
        if one.aim == "f1" and one.cut is not None and one.cut <= 1:
            chart.line([(one.cut, 0), (one.cut, 1)], kind="guide")
            chart.note(one.cut, 0.02, f" chosen: {one.cut:.2f}", "start")
    for colour, name in enumerate(CURVES):
        chart.line(list(zip(part.curve["threshold"], part.curve[name], strict=True)), colour)
    return chart.svg()


def draw_frequency(frequency: NDArray[Any]) -> str:
    """Training texts of each label, from the commonest to the rarest, on two logarithmic axes."""
    ordered = np.sort(frequency[frequency > 0])[::-1]
    highest, count = 10 ** ceil(log10(max(int(ordered[0]), 2))), max(len(ordered), 10)
    ranks = np.unique(np.geomspace(1, len(ordered), 120).astype(np.int64))
    x, y = _powers(count, "labels, the commonest first"), _powers(highest, "training texts")
    most, tail = int(ordered[0]), int((ordered <= BANDS["tail"]).sum())
    words = f"{len(ordered):,} labels; the commonest has {most:,} training texts, {tail:,} have at most five"
    chart = Chart(words, x, y, height=240)
    chart.line([(float(rank), float(ordered[rank - 1])) for rank in ranks.tolist()])
    return chart.svg()


def _powers(end: float, name: str) -> Axis:
    """A logarithmic axis from 1, with a tick at every power of ten."""
    ticks = [10.0**power for power in range(int(log10(end) + 1e-9) + 1)]
    return Axis(1, end, ticks, name, "{:,.0f}".format, logarithmic=True)


def draw_training(records: Sequence[dict[str, Any]]) -> str:
    """The loss of each training run."""
    runs: dict[int, list[tuple[float, float]]] = {}
    for record in records:
        if "loss" in record:
            runs.setdefault(record["run"], []).append((record["step"], record["loss"]))
    points = [point for line in runs.values() for point in line]
    steps, highest = max(step for step, _ in points), max(loss for _, loss in points) * 1.05 or 1.0
    ticks = [float(f"{steps * part / 4:.2g}") for part in range(5)]
    x, y = Axis(0, steps, ticks, "step"), Axis(0, highest, _below(highest), "loss", "{:.2g}".format)
    first, last = points[0][1], points[-1][1]
    chart = Chart(f"Loss of {len(runs)} runs of up to {steps:,} steps, from {first:.3g} to {last:.3g}", x, y)
    for number, line in enumerate(runs.values()):
        chart.line(line, number)
    return chart.svg()


def _below(highest: float) -> list[float]:
    """Some round numbers from 0 up to the highest."""
    step = 10.0 ** np.floor(log10(max(highest, 1e-9)))
    step *= next(part for part in (0.2, 0.5, 1.0, 2.0) if highest / (step * part) <= 6)
    return [round(step * count, 10) for count in range(int(highest / step + 1e-6) + 1)]

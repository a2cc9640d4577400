"""The pictures of the page: SVG on a transparent ground, in greys and mid-tones that read on white and on black."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter

from benchmarks.results import Result
from benchmarks.series import batch_milliseconds, head_cost, in_order, labels, step_cost

__all__ = ["draw"]

Kinds = dict[str, dict[str, list[Result]]]
GREY = "#808080"
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "treetop",  # the same picture gives the same file
    "font.size": 9,
    "text.color": GREY,
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "axes.titlecolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "grid.color": GREY,
    "grid.alpha": 0.25,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
COLOURS = {
    "treetop": "#1f9e55",
    "pecos": "#d9622b",
    "omikuji": "#4a7fd6",
    "napkinxc": "#a463c9",
    "libmultilabel": "#c39a1c",
    "sklearn": "#2a9db0",
    "fasttext": "#d6568c",
    "annif": "#7a8f2a",
}
MARKERS = "os^Dv*PX"
SPAN = 15.0  # points of P@5 that a panel shows


def draw(kinds: Kinds, folder: Path) -> dict[str, str]:
    """Make every picture that there are results for; file names with their titles."""
    folder.mkdir(parents=True, exist_ok=True)
    made: dict[str, str] = {}
    with mpl.rc_context(STYLE):
        if kinds["compare"]:
            made["accuracy-cost"] = "Accuracy against training cost"
            _scatter(kinds, lambda row: row.training("cpu"), "training, CPU-seconds", folder / "accuracy-cost.svg")
            made["latency-accuracy"] = "Accuracy against the time a single text takes"
            _scatter(kinds, lambda row: row.value("one", "p50_ms"), "one text, ms", folder / "latency-accuracy.svg")
            made["memory-labels"] = "Memory against the number of labels"
            _memory(kinds, folder / "memory-labels.svg")
        if len(in_order(kinds["growth"])) > 1:
            made["growth"] = "Cost against the number of labels"
            _growth(in_order(kinds["growth"]), folder / "growth.svg")
        if len(in_order(kinds["heads"])) > 1:
            made["heads"] = "Transformer heads against the number of labels"
            _heads(in_order(kinds["heads"]), folder / "heads.svg")
    return made


def _scatter(kinds: Kinds, x: Callable[[Result], float | None], title: str, path: Path) -> None:
    """A panel per task: P@5 against what it costs."""
    tasks = kinds["compare"]
    figure, panels = plt.subplots(1, len(tasks), figsize=(3.6 * len(tasks), 4.2), squeeze=False)
    marks = _marks(tasks)
    for panel, (name, results) in zip(panels[0], tasks.items(), strict=True):
        points = [(row, cost, 100 * found) for row in results if (cost := x(row)) and (found := _found(row))]
        floor = max((quality for *_, quality in points), default=0.0) - SPAN
        for row, cost, quality in points:
            panel.scatter(cost, max(quality, floor), s=45, label=row.title, **marks[row.entry])
            if quality < floor:  # far below the others: at the edge, with its number
                panel.annotate(f"{quality:.0f}", (cost, floor), (4, 4), textcoords="offset points")
        panel.set(xscale="log", xlabel=title, title=name)
        panel.xaxis.set_minor_formatter(NullFormatter())
    panels[0][0].set_ylabel("P@5, %")
    _legend_below(figure, panels[0])
    _save(figure, path)


def _found(row: Result) -> float | None:
    return None if row.variant else row.mean("metrics", "p@5")


def _marks(tasks: dict[str, list[Result]]) -> dict[str, dict[str, Any]]:
    """A colour per peer, a marker per entry of that peer; treetop filled, the others not."""
    marks: dict[str, dict[str, Any]] = {}
    used: dict[str, int] = {}
    for row in (row for results in tasks.values() for row in results if not row.variant):
        if row.entry not in marks:
            number = used[row.peer] = used.get(row.peer, -1) + 1
            colour = COLOURS.get(row.peer, GREY)
            face = colour if row.peer == "treetop" else "none"
            marks[row.entry] = {"marker": MARKERS[number % len(MARKERS)], "edgecolors": colour, "facecolors": face}
    return marks


def _memory(kinds: Kinds, path: Path) -> None:
    """Peak memory of training: treetop's growth, and every comparison."""
    figure, panel = plt.subplots(figsize=(6.5, 4))
    grown = in_order(kinds["growth"])
    if grown:
        sizes = [labels(row) for row in grown]
        training = [row.training("peak_rss_mib") or 0.0 for row in grown]
        serving = [row.value("stages", "batch", "peak_rss_mib") or 0.0 for row in grown]
        panel.plot(sizes, training, "o-", color=COLOURS["treetop"], label="treetop, training (generated)")
        panel.plot(sizes, serving, "o:", color=COLOURS["treetop"], label="treetop, prediction (generated)")
    marks = _marks(kinds["compare"])
    for row in (row for results in kinds["compare"].values() for row in results if not row.variant):
        peak = row.training("peak_rss_mib")
        if peak:
            panel.scatter(labels(row), peak, s=40, label=row.title, **marks[row.entry])
    panel.set(xscale="log", yscale="log", xlabel="labels", ylabel="peak memory, MiB", title="training, all data sets")
    _legend_below(figure, [panel])
    _save(figure, path)


def _growth(rows: Sequence[Result], path: Path) -> None:
    """Training, growing with the data, and prediction, growing with the depth of the tree."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6))
    sizes = np.array([labels(row) for row in rows])
    parts = (("tree", "tree", "s--"), ("train", "classifiers", "o-"))
    for stage, title, line in parts:
        seconds = [row.value("stages", stage, "cpu") or 0.0 for row in rows]
        left.plot(sizes, seconds, line, color=COLOURS["treetop"], label=title)
    first = rows[0].value("stages", "train", "cpu") or 1.0
    left.plot(sizes, first * sizes / sizes[0], ":", color=GREY, label="linear in texts and labels")
    for panel in (left, right):
        panel.set_xscale("log")
        panel.xaxis.set_minor_formatter(NullFormatter())
    left.set(yscale="log", xlabel="labels (and texts)", ylabel="CPU-seconds", title="training")
    for value, title, line in ((_one, "one at a time, p50", "o-"), (batch_milliseconds, "in a batch, CPU", "s--")):
        right.plot(sizes, [value(row) or 0.0 for row in rows], line, color=COLOURS["treetop"], label=title)
    start = _one(rows[0]) or 1.0
    right.plot(sizes, start * np.log(sizes) / np.log(sizes[0]), ":", color=GREY, label="logarithm of the labels")
    right.set(xlabel="labels", ylabel="ms per text", title="prediction")
    right.set_ylim(bottom=0)
    left.legend()
    right.legend()
    figure.tight_layout()
    _save(figure, path)


def _heads(rows: Sequence[Result], path: Path) -> None:
    """A step, how much of it is the head's, and memory, for each method."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6))
    for method, colour in zip(dict.fromkeys(row.title for row in rows), ("#1f9e55", "#4a7fd6"), strict=False):
        mine = [row for row in rows if row.title == method]
        sizes, steps = [labels(row) for row in mine], [step_cost(row) or 0.0 for row in mine]
        heads = [step * (head_cost(row) or 0.0) for row, step in zip(mine, steps, strict=True)]
        left.plot(sizes, steps, "o-", color=colour, label=f"{method}, step")
        left.plot(sizes, heads, "s--", color=colour, label=f"{method}, head")
        peaks = [(row.value("stages", "train", "peak_rss_mib") or 0.0) / 1024 for row in mine]
        right.plot(sizes, peaks, "o-", color=colour, label=method)
    left.set(xscale="log", xlabel="labels", ylabel="CPU-seconds", title="a training step")
    right.set(xscale="log", yscale="log", xlabel="labels", ylabel="GiB", title="peak memory of training")
    for panel in (left, right):
        panel.legend()
    left.set_ylim(bottom=0)
    figure.tight_layout()
    _save(figure, path)


def _one(row: Result) -> float | None:
    return row.value("one", "p50_ms")


def _legend_below(figure: Any, panels: Sequence[Any]) -> None:
    handles: dict[str, Any] = {}
    for panel in panels:
        for handle, title in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(title, handle)
    figure.tight_layout()
    figure.legend(
        handles.values(), handles.keys(), loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, columnspacing=1.2
    )


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, transparent=True, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)

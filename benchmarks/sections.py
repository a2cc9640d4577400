"""The part of the page about one comparison: quality, cost, equal settings, and where treetop is not the best."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import hypot
from pathlib import Path
from typing import Any

from benchmarks.plan import REFERENCE
from benchmarks.results import Result
from benchmarks.scores import PAIRED
from benchmarks.tables import COST, QUALITY, Column, by_cost, comparison, figure, leader, markdown

__all__ = ["failures", "task_section"]

REASONS = Path(__file__).parent / "reasons.json"
OURS = "treetop-xr-linear"
TRANSFORMERS = ("pecos-xr-transformer", "treetop-xr-transformer")
SERVING = {
    "batch prediction, CPU s": ("stages", "batch", "cpu"),
    "batch prediction, wall s": ("stages", "batch", "wall"),
    "prediction, peak MiB": ("stages", "batch", "peak_rss_mib"),
    "one at a time, p50 ms": ("one", "p50_ms"),
    "one at a time, p99 ms": ("one", "p99_ms"),
    "model, bytes": ("model_bytes",),
}
TRAINING = {
    "training, CPU s": ("stages", "train", "cpu"),
    "training, wall s": ("stages", "train", "wall"),
    "training, peak MiB": ("stages", "train", "peak_rss_mib"),
}
LINEAR_STAGES = {
    "label representation, CPU s": ("stages", "pifa", "cpu"),
    "tree, CPU s": ("stages", "tree", "cpu"),
    "tree, wall s": ("stages", "tree", "wall"),
    **TRAINING,
    **SERVING,
}
TRANSFORMER_STAGES = {"fine-tuning, CPU ms per text": ("tuning", "cpu_ms_per_text"), **TRAINING, **SERVING}


def task_section(name: str, results: Sequence[Result]) -> str:
    results = by_cost(results)
    facts = results[0].task["statistics"]
    intro = (
        f"{facts['texts']:,} training and {results[0].task['test_texts']:,} test texts, {facts['labels']:,} labels, "
        f"{facts['labels_per_text']:.1f} labels and {facts['features_per_text']:.0f} features per text, "
        f"{results[0].task['source'] if results[0].task['source'] == 'generated' else 'real'} data. "
        f"Up to {max(len(row.rows) for row in results)} rounds, "
        f"{max(row.last['threads'] for row in results)} threads. Rows go from the cheapest training to the dearest."
    )
    blocks = [
        f"## {name}",
        intro,
        _features(results[0].task.get("tfidf")),
        _elsewhere(results),
        comparison([row for row in results if not row.variant], QUALITY),
        comparison(results, COST),
        _chosen(results),
        _equal(results),
        _differences(results),
        _not_best(name, results),
        failures(results),
    ]
    return "\n\n".join(block for block in blocks if block)


def _features(tfidf: dict[str, Any] | None) -> str:
    """What the matrix that all are given is made of, where that is more than words."""
    kinds = {
        "word_ngrams": "n-grams of words",
        "char_wb_ngrams": "of the letters of a word",
        "char_ngrams": "of letters",
    }
    found = {name: tuple(tfidf[name]) for name in kinds if tfidf and tfidf.get(name)}
    if found in ({}, {"word_ngrams": (1, 1)}):
        return ""
    told = ", ".join(f"{kinds[name]} from {least} to {most}" for name, (least, most) in found.items())
    return f"The matrix that all are given has {told}: what a search for settings chose."


def _chosen(results: Sequence[Result]) -> str:
    """What the rows whose settings were chosen chose, and what the search for them cost."""
    sentences = []
    for row in results:
        found, cost = row.last.get("chosen"), row.value("stages", "search", "cpu")
        if row.error is None and found and cost:
            sentences.append(
                f"*{row.title}*: the search cost {figure(cost)} CPU-seconds more ({found['trainings']} trainings), "
                f"and chose {found['settings']}."
            )
    return " ".join(sentences)


def _elsewhere(results: Sequence[Result]) -> str:
    """Which rows were measured on another machine than the first: their costs do not compare with the others'."""
    machines: dict[str, list[str]] = {}
    for row in (row for row in results if row.error is None):
        machines.setdefault(row.last["machine"]["cpu"], []).append(row.title)
    sentences = [f"{', '.join(titles)}: on {cpu}." for cpu, titles in list(machines.items())[1:]]
    return (
        " ".join(["Measured on another machine, so that their costs compare only roughly:", *sentences])
        if sentences
        else ""
    )


def _equal(results: Sequence[Result]) -> str:
    """PECOS and treetop in equal settings, stage by stage, PECOS with the faster of its two ways to store weights."""
    by_name = {row.entry: row for row in results if row.error is None}
    linear, transformer = (
        _side_by_side([row for name, row in by_name.items() if name.startswith(theirs)], by_name.get(ours), stages)
        for theirs, ours, stages in ((REFERENCE, OURS, LINEAR_STAGES), (*TRANSFORMERS, TRANSFORMER_STAGES))
    )
    parts = []
    if linear:
        head = "Equal settings, stage by stage (PECOS's prediction with the faster of its chunked and hashed weights):"
        parts += [head, linear, _threads(by_name)]
    if transformer:
        parts += ["XR-Transformer with the same encoder, batches, token limit and steps:", transformer]
    return "\n\n".join(part for part in parts if part)


def _side_by_side(theirs: Sequence[Result], ours: Result | None, stages: dict[str, tuple[str, ...]]) -> str:
    if ours is None or not theirs:
        return ""
    lines = []
    for title, path in stages.items():
        found = [value for row in theirs if (value := row.value(*path)) is not None]
        mine = ours.value(*path)
        if found and mine:
            lines.append([title, figure(min(found)), figure(mine), f"{min(found) / mine:.1f}x"])
    return markdown(["", "PECOS", "treetop", "PECOS / treetop"], lines)


def _threads(by_name: dict[str, Result]) -> str:
    single = by_name.get(f"{OURS}-1-thread")
    if single is None:
        return ""
    digests = {row.last.get("digest") for row in (single, by_name[OURS])}
    same = "the same model, bit for bit" if len(digests) == 1 else "**different models**"
    return f"With one thread and with {by_name[OURS].last['threads']}, treetop trains {same}."


def _differences(results: Sequence[Result]) -> str:
    """Each row against PECOS, text by text."""
    lines = []
    for row in (row for row in results if row.error is None and not row.variant):
        pairs = [pair for metric in PAIRED if (pair := row.difference(metric)) is not None]
        if pairs:
            lines.append([row.title, *(f"{100 * value:+.2f} ± {100 * error:.2f}" for value, error in pairs)])
    if not lines:
        return ""
    head = ["", *(metric.upper() for metric in PAIRED)]
    return "Difference from PECOS XR-Linear, in points:\n\n" + markdown(head, lines)


def _not_best(task: str, results: Sequence[Result]) -> str:
    """Where a peer leads: who, by how much, and why."""
    working = [row for row in results if row.error is None]
    ours = [row for row in working if row.peer == "treetop"]
    lines = []
    for column in (*QUALITY, *COST):
        best, mine = leader(working, column), leader(ours, column)
        if best is None or mine is None or best.peer == "treetop":
            continue
        theirs, own = (column.show(column.value(row)) for row in (best, mine))
        if theirs == own:
            continue
        why = _within_noise(best, mine, column) or _reason(task, best, column)
        lines.append(
            f"- **{column.title}**: {best.title} has {theirs}, treetop at best {own} ({mine.title}). "
            + (why or "The reason is not known yet.")
        )
    if not working or not ours:
        return ""
    return "\n".join(["Where treetop is not the best:", "", *(lines or ["- nowhere in this table."])])


def _reason(task: str, best: Result, column: Column) -> str | None:
    """Why a row leads a column: the first rule that fits it."""
    for rule in json.loads(REASONS.read_text(encoding="utf-8")):
        if (
            best.entry.startswith(rule["entry"])
            and column.title in rule["columns"]
            and task in rule.get("tasks", [task])
        ):
            return str(rule["why"])
    return None


def _within_noise(best: Result, mine: Result, column: Column) -> str | None:
    """Both rows were compared with PECOS text by text; their errors add up to a bound on that of the difference."""
    if column.metric is None:
        return None
    theirs, ours = (_paired_error(row, column.metric) for row in (best, mine))
    if theirs is None or ours is None:
        return None
    error = hypot(theirs, ours)
    gap = abs((column.value(best) or 0.0) - (column.value(mine) or 0.0))
    return f"Within the noise (standard error about {100 * error:.2f})." if gap < 2 * error else None


def _paired_error(row: Result, metric: str) -> float | None:
    if row.entry.startswith(REFERENCE):
        return 0.0
    pair = row.difference(metric)
    return None if pair is None else pair[1]


def failures(results: Sequence[Result]) -> str:
    failed = [row for row in results if row.error is not None]
    if not failed:
        return ""
    return "\n".join(["Without figures:", "", *(f"- {row.title}: {row.error}" for row in failed)])

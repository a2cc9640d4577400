"""The parts of the page about tf-idf, growth, scale, and the generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.generate import SHAPES
from benchmarks.results import Result
from benchmarks.sections import failures
from benchmarks.tables import Column, comparison, figure, markdown

__all__ = [
    "generator_section", "growth_section", "head_cost", "heads_section", "in_order", "power_law", "scale_section",
    "step_cost", "tfidf_section",
]  # fmt: skip

Tasks = dict[str, list[Result]]


def in_order(tasks: Tasks) -> list[Result]:
    """The results of a series that worked, by their number of labels."""
    found = [result for results in tasks.values() for result in results if result.error is None]
    return sorted(found, key=labels)


def labels(row: Result) -> float:
    return float(row.task["statistics"]["labels"])


def batch_milliseconds(row: Result) -> float | None:
    """CPU-milliseconds per text."""
    cpu = row.value("stages", "batch", "cpu")
    return None if cpu is None else 1e3 * cpu / float(row.last["texts"])


def power_law(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """a and b of y = a x^b, by least squares of logarithms."""
    slope, intercept = np.polyfit(np.log(x), np.log(y), 1)
    return float(np.exp(intercept)), float(slope)


COLUMNS = (
    Column("texts", lambda row: float(row.task["statistics"]["texts"])),
    Column("labels", labels),
    Column("tree CPU s", lambda row: row.value("stages", "tree", "cpu")),
    Column("training CPU s", lambda row: row.value("stages", "train", "cpu")),
    Column("all wall s", lambda row: row.training("wall")),
    Column("train peak MiB", lambda row: row.training("peak_rss_mib")),
    Column("model MB", lambda row: None if (size := row.value("model_bytes")) is None else size / 1e6),
    Column("load s", lambda row: row.value("stages", "load", "wall")),
    Column("batch CPU ms per text", batch_milliseconds),
    Column("one p50 ms", lambda row: row.value("one", "p50_ms")),
    Column("predict peak MiB", lambda row: row.value("stages", "batch", "peak_rss_mib")),
    Column("P@1 %", lambda row: 100 * (row.mean("metrics", "p@1") or 0.0)),
)
EXTRAPOLATED = ("tree CPU s", "training CPU s", "all wall s", "train peak MiB", "model MB", "predict peak MiB")
VECTORISED = (
    Column("fit and transform, CPU s", lambda row: row.value("stages", "fit_transform", "cpu")),
    Column("wall s", lambda row: row.value("stages", "fit_transform", "wall")),
    Column("transform test, CPU s", lambda row: row.value("stages", "transform", "cpu")),
    Column("peak MiB", lambda row: row.value("stages", "fit_transform", "peak_rss_mib")),
)


def tfidf_section(tasks: Tasks) -> str:
    """Texts to tf-idf, beside scikit-learn and PECOS."""
    if not tasks:
        return ""
    blocks = ["## Texts to tf-idf", "Word unigrams, each library's own idea of a word; fitted on the training texts."]
    for name, results in tasks.items():
        blocks += [f"**{name}**", comparison(results, VECTORISED), _times(results), failures(results)]
    return "\n\n".join(block for block in blocks if block)


def _times(results: Sequence[Result]) -> str:
    cpu = {row.peer: row.value("stages", "fit_transform", "cpu") for row in results if row.error is None}
    mine = cpu.pop("treetop", None)
    parts = [f"{peer} {value / mine:.1f}" for peer, value in cpu.items() if value and mine]
    return f"Times treetop's CPU-seconds: {', '.join(parts)}." if parts else ""


def growth_section(tasks: Tasks) -> str:
    """From ten thousand labels to a million."""
    rows = in_order(tasks)
    if len(rows) < 2:
        return ""
    first, last = rows[0], rows[-1]
    more = labels(last) / labels(first)
    parts = [
        _growth_of(title, rows, value)
        for title, value in (
            ("training costs", lambda row: row.training("cpu")),
            ("training memory is", lambda row: row.training("peak_rss_mib")),
            ("a text in a batch costs", batch_milliseconds),
            ("a single text takes", lambda row: row.value("one", "p50_ms")),
        )
    ]
    span = f"From {labels(first):,.0f} to {labels(last):,.0f} labels ({figure(more)} times as many)"
    intro = (
        "Generated data with as many texts as labels, everything per text the same; treetop's XR-Linear alone. "
        "Each level of the tree adds a fixed number of nodes to look at: prediction grows with the depth of the tree."
    )
    return "\n\n".join(["## Cost growth", intro, _table(rows), f"{span}: {'; '.join(parts)}."])


def _growth_of(title: str, rows: Sequence[Result], value: Callable[[Result], float | None]) -> str:
    numbers = [value(row) or float("nan") for row in rows]
    _, slope = power_law([labels(row) for row in rows], numbers)
    return f"{title} {numbers[-1] / numbers[0]:.1f} times as much (labels^{slope:.2f})"


def scale_section(tasks: Tasks) -> str:
    """Parts of Amazon-3M's shape, and what its full size would cost."""
    rows = in_order(tasks)
    if len(rows) < 2:
        return ""
    full = SHAPES["amazon-3m"]
    cells = []
    for column in (column for column in COLUMNS if column.title in EXTRAPOLATED):
        numbers = [column.value(row) or float("nan") for row in rows]
        scale, slope = power_law([labels(row) for row in rows], numbers)
        cells.append([column.title, figure(scale * full.labels**slope), f"{slope:.2f}"])
    intro = (
        f"Generated data of Amazon-3M's shape ({full.train:,} texts, {full.labels:,} labels, {full.per_text} per text) "
        "in parts that keep everything per text and per label; treetop's XR-Linear alone."
    )
    head = f"Extrapolated to all {full.labels:,} labels by power laws through the rows above:"
    table = markdown(["", "full size", "exponent"], cells)
    return "\n\n".join(["## Amazon-3M's shape", intro, _table(rows), head, table])


def step_cost(row: Result) -> float | None:
    """CPU-seconds of an optimiser step."""
    return row.value("step", "cpu")


def head_cost(row: Result) -> float | None:
    """Share of a step that is not the encoder's."""
    step, alone = step_cost(row), row.value("step", "encoder_alone_cpu")
    return None if step is None or alone is None else max(0.0, 1 - alone / step)


HEADS = (
    Column("texts", lambda row: float(row.task["statistics"]["texts"])),
    Column("texts per step", lambda row: float(row.last["settings"]["assign"]["optim.batch_size"])),
    Column("step, CPU s", step_cost),
    Column("of it the head's, %", lambda row: None if (share := head_cost(row)) is None else 100 * share),
    Column("training, peak GiB", lambda row: _gib(row.value("stages", "train", "peak_rss_mib"))),
    Column("model GB", lambda row: None if (size := row.value("model_bytes")) is None else size / 1e9),
    Column("one text, ms", lambda row: row.value("one", "p50_ms")),
    Column("prediction, peak GiB", lambda row: _gib(row.value("stages", "batch", "peak_rss_mib"))),
)


def _gib(mib: float | None) -> float | None:
    return None if mib is None else mib / 1024


def heads_section(tasks: Tasks) -> str:
    """The transformer methods whose heads have a row per label, up to three million of them."""
    rows = in_order(tasks)
    if not rows:
        return ""
    cells = [[row.title, f"{labels(row):,.0f}", *(column.show(column.value(row)) for column in HEADS)] for row in rows]
    intro = (
        f"Whole trainings cut short after a few steps: `fit` on generated texts with every label, the encoder "
        f"{rows[0].last['encoder']} with no layer frozen, 128 tokens. The peak includes texts, tf-idf and the growing "
        "of the tree. A step is the median of whole steps; the head's share is what one costs beyond a step of the "
        "same loop without any head."
    )
    table = markdown(["", "labels", *(column.title for column in HEADS)], cells)
    failed = failures([result for results in tasks.values() for result in results])
    return "\n\n".join(part for part in ("## Heads of millions of labels", intro, table, failed) if part)


def _table(rows: Sequence[Result]) -> str:
    lines = [[column.show(column.value(row)) for column in COLUMNS] for row in rows]
    return markdown([column.title for column in COLUMNS], lines)


FACTS = {
    "labels_per_text": "labels per text",
    "texts_per_label": "texts per label",
    "labels_over_100_texts": "labels with over 100 texts, %",
    "labels_up_to_5_texts": "with up to 5, %",
    "share_of_top_1_percent": "pairs of the top 1 % of labels, %",
    "share_of_top_10_percent": "of the top 10 %, %",
    "features_per_text": "features per text",
}


def generator_section(tasks: Tasks, compared: Tasks) -> str:
    """Generated data beside the papers' Table 1 and beside real data."""
    if not tasks:
        return ""
    lines = []
    for name, results in tasks.items():
        shape = SHAPES[name]
        if shape.texts_per_label is not None:
            paper = {"labels_per_text": shape.per_text, "texts_per_label": shape.texts_per_label}
            paper |= {"labels_over_100_texts": 0.021} if name == "wiki-500k" else {}
            lines.append([f"{name}, papers", *_facts(paper)])
        lines.append([f"{name}, generated", *_facts(results[0].task["statistics"])])
    for name, results in compared.items():
        if results[0].task["source"] == "data":
            lines.append([f"{name}, real", *_facts(results[0].task["statistics"])])
    intro = (
        "How generated data resembles real data: the papers' Table 1 (texts, labels, labels per text; the share of "
        "frequent labels is from X-Transformer's figure 1) and the real data above. Shapes with more than 50,000 texts "
        "were generated in part. The method is described in `benchmarks/generate.py`."
    )
    return "\n\n".join(["## The generator", intro, markdown(["", *FACTS.values()], lines)])


def _facts(found: dict[str, float]) -> list[str]:
    shown = {name: 100 * value if FACTS.get(name, "").endswith("%") else value for name, value in found.items()}
    return [figure(shown[name]) if name in shown else "" for name in FACTS]

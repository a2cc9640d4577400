"""Figures inside pages that people write: what stands between two marks is made from the recorded rows.

    <!-- figures: NAME -->
    … made by `python -m benchmarks page` …
    <!-- end -->

A mark may stand in the middle of a sentence. The test of the committed pages makes them anew and compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.results import Result
from benchmarks.series import power_law
from benchmarks.tables import figure, markdown

__all__ = ["BLOCKS", "PAGES", "Kinds", "fill"]

Kinds = dict[str, dict[str, list[Result]]]
PAGES = ("README.md", "docs/which-method.md", "docs/xr-linear.md", "docs/scores.md")
"""Pages that hold such figures, from the root of the repository."""
_MARKED = re.compile(r"(<!-- figures: ([a-z0-9-]+) -->)(\n?).*?(<!-- end -->)", re.DOTALL)
_FEW = 10_000  # Texts below which a part of a data set is told of on its own.

_SETS = ("eurlex57k", "tate-subjects", "nvd-cve-products", "yso-swedish")
_AUTO, _DEFAULT, _PECOS = "treetop-auto", "treetop-xr-linear", "pecos-xr-linear"
_SHOWN = {
    _PECOS: "PECOS XR-Linear",
    "omikuji-bonsai": "omikuji Bonsai, 3 trees",
    "sklearn-one-vs-rest": "scikit-learn one-vs-rest",
    _DEFAULT: "treetop, preset `xr-linear`",
    "treetop-accurate": "treetop, preset `accurate`",
    "treetop-thorough": "treetop, preset `thorough`",
    "treetop-dismec": "treetop, `one-vs-all`",
    _AUTO: "**treetop, settings chosen** (the default)",
}


def fill(page: str, kinds: Kinds) -> str:
    """The page with all its marked figures made anew."""

    def made(found: re.Match[str]) -> str:
        begin, name, line, end = found.groups()
        if name not in BLOCKS:
            raise SystemExit(f"there are no figures '{name}'; choose from {', '.join(BLOCKS)}")
        around = 2 * line  # a table needs empty lines around it
        return f"{begin}{around}{BLOCKS[name](kinds)}{around}{end}"

    return _MARKED.sub(made, page)


def quality_beside_cost(kinds: Kinds) -> str:
    """P@1/3/5 and the CPU-seconds of a training, for some methods and every real data set."""
    tasks = {name: _by_entry(kinds, name) for name in _SETS}
    head = ["P@1/3/5 · CPU-s of training", *(f"{name}<br>{_size(rows)}" for name, rows in tasks.items())]
    lines = [[title, *(_cell(rows.get(entry)) for rows in tasks.values())] for entry, title in _SHOWN.items()]
    return markdown(head, lines)


def presets(kinds: Kinds) -> str:
    """P@1/3/5, R@10 and CPU-seconds of our presets without an encoder."""
    names = {_DEFAULT: "`xr-linear`", "treetop-accurate": "`accurate`", "treetop-thorough": "`thorough`"}
    names |= {"treetop-parabel": "`parabel`", "treetop-bonsai": "`bonsai`", "treetop-dismec": "`one-vs-all`"}
    tasks = {name: _by_entry(kinds, name) for name in _SETS}

    def told(row: Result | None) -> str:
        if row is None:
            return "–"
        return (
            f"{_precision(row)}, {100 * (row.mean('metrics', 'r@10') or 0):.1f}, {figure(row.training('cpu') or 0)} s"
        )

    lines = [[title, *(told(rows.get(entry)) for rows in tasks.values())] for entry, title in names.items()]
    return markdown(["", *tasks], lines)


def conditions(kinds: Kinds) -> str:
    """What the table cannot say: threads, repeats, machines."""
    rows = [row for name in _SETS for entry, row in _by_entry(kinds, name).items() if entry in _SHOWN]
    threads = sorted({int(row.last["threads"]) for row in rows if row.error is None})
    dates = sorted(row.last["time"][:10] for row in rows)
    many = " or ".join(str(one) for one in threads)
    return f"{many} threads, {dates[0]} to {dates[-1]}; rows of several seeds are their means"


def _size(rows: dict[str, Result]) -> str:
    if not rows:
        return ""
    facts = next(iter(rows.values())).task["statistics"]
    return f"{facts['texts']:,} texts, {facts['labels']:,} labels"


def _by_entry(kinds: Kinds, task: str) -> dict[str, Result]:
    return {row.entry: row for row in kinds["compare"].get(task, []) if row.error is None}


def _precision(row: Result) -> str:
    values = (100 * (row.mean("metrics", name) or 0) for name in ("p@1", "p@3", "p@5"))
    return "/".join(f"{value + 1e-9:.1f}" for value in values)  # what was written as 89.65 is 89.7


def _cell(row: Result | None) -> str:
    if row is None:
        return "–"
    cost, search = figure(row.training("cpu") or 0), row.value("stages", "search", "cpu")
    return f"{_precision(row)} · {cost}" + ("" if search is None else f" + {figure(search)} to choose")


def speed(kinds: Kinds) -> str:
    """How many times fewer CPU-seconds than PECOS's a training takes at equal settings, over all data sets."""
    found = []
    for results in kinds["compare"].values():
        rows = {row.entry: row for row in results if row.error is None}
        theirs, ours = (
            rows[name].value("stages", "train", "cpu") if name in rows else None for name in (_PECOS, _DEFAULT)
        )
        if theirs and ours and rows[_PECOS].task["statistics"]["texts"] >= 10_000:
            found.append(theirs / ours)
    return f"{min(found):.0f} to {max(found):.0f} times" if found else "–"


def growth(kinds: Kinds) -> str:
    """What a training costs, and one text takes, from the fewest to the most labels that were measured."""
    rows = sorted(
        (row for results in kinds["growth"].values() for row in results if row.error is None),
        key=lambda row: row.task["statistics"]["labels"],
    )
    lines = [
        [
            f"{row.task['statistics']['labels']:,}",
            f"{row.task['statistics']['texts']:,}",
            figure(row.training("cpu") or 0),
            figure((row.training("peak_rss_mib") or 0) / 1024),
            figure((row.value("model_bytes") or 0) / 1e6),
            figure(row.value("one", "p50_ms") or 0),
        ]
        for row in rows
    ]
    return markdown(["labels", "texts", "training, CPU-s", "memory, GiB", "model, MB", "one text, ms"], lines)


def three_million(kinds: Kinds) -> str:
    """What Amazon-3M's size costs, from parts of its shape: a power law through them."""
    rows = [row for results in kinds["scale"].values() for row in results if row.error is None]
    sizes = [float(row.task["statistics"]["labels"]) for row in rows]

    def at_full_size(value: Callable[[Result], float | None]) -> float:
        factor, slope = power_law(sizes, [value(row) or float("nan") for row in rows])
        return float(factor * 2_812_281.0**slope)

    minutes = at_full_size(lambda row: row.training("wall")) / 60
    memory = at_full_size(lambda row: row.training("peak_rss_mib")) / 1024
    return f"about {figure(minutes)} minutes on {rows[0].last['threads']} cores and {figure(memory)} GiB of memory"


def heads_memory(kinds: Kinds) -> str:
    """The memory of a transformer's training at the most labels that were measured."""
    rows = [row for results in kinds["heads"].values() for row in results if row.error is None]
    row = max(rows, key=lambda one: one.task["statistics"]["labels"])
    memory = (row.training("peak_rss_mib") or 0) / 1024
    return f"{figure(memory)} GiB ({row.title}, {row.task['statistics']['labels']:,} labels)"


def with_encoder(kinds: Kinds, *, few: bool = False) -> str:
    """What the log of experiments says of methods with an encoder, a table per data set or small part of one."""
    parts = []
    noted = kinds["noted"].items()
    for task, results in ((name, rows) for name, rows in noted if few == (rows[0].task["statistics"]["texts"] < _FEW)):
        lines = [
            [
                row.title,
                _precision(row),
                "–" if (rare := row.mean("metrics", "psp@1")) is None else f"{100 * rare:.1f}",
                "–" if (cost := row.training("cpu")) is None else figure(cost),
                "–" if (size := row.value("model_bytes")) is None else figure(size / 1e6),
            ]
            for row in results
        ]
        told = results[0].last["told"]
        parts.append(f"**{task}** ([told in full]({told})):")
        parts.append(markdown(["", "P@1/3/5", "rare labels: PSP@1", "training, CPU-s", "model, MB"], lines))
    return "\n\n".join(parts)


def chosen(kinds: Kinds) -> str:
    """What was chosen for each data set, beside the best preset, and what the search cost."""
    tasks = {name: _by_entry(kinds, name) for name in _SETS}
    lines = [[name, *_choice(rows)] for name, rows in tasks.items() if _AUTO in rows]
    costs = ["CPU-s: search", "training", "PECOS's", "model, MB", "one text, ms"]
    return markdown(["", "chosen", "P@1/3/5", "best preset", *costs], lines, words=2)


def _choice(rows: dict[str, Result]) -> Sequence[str]:
    auto = rows[_AUTO]
    presets = [rows[name] for name in (_DEFAULT, "treetop-accurate", "treetop-thorough") if name in rows]
    best = max(presets, key=lambda row: sum(row.mean("metrics", f"p@{k}") or 0 for k in (1, 3, 5)))
    return [
        auto.last["chosen"]["settings"].replace("=", ": "),
        _precision(auto),
        f"{_precision(best)} (`{best.entry.removeprefix('treetop-')}`)",
        figure(auto.value("stages", "search", "cpu") or 0),
        figure(auto.training("cpu") or 0),
        figure(rows[_PECOS].training("cpu") or 0) if _PECOS in rows else "–",
        _megabytes(auto),
        figure(auto.value("one", "p50_ms") or 0),
    ]


def situations(kinds: Kinds) -> str:
    """What to type for which data, with what that gave and cost on data like it."""
    short = "[titles, product names, queries](#short-texts-titles-product-names-queries)"
    long = "[contracts, laws, reports](#long-documents-contracts-laws-reports)"
    few, much = (kinds["noted"][name] for name in ("tate-subjects, 4,000 of its texts", "tate-subjects"))
    large = max(
        (row for results in kinds["growth"].values() for row in results if row.error is None),
        key=lambda row: row.task["statistics"]["labels"],
    )
    lines = [
        ["titles in an inflected language", short, *_like(kinds, "yso-swedish", "Swedish titles")],
        ["short texts in English", short, *_like(kinds, "tate-subjects", "works of art, 17 words")],
        ["… with many rare labels", short, *_like(kinds, "nvd-cve-products", "security reports, 40 words")],
        ["long documents", long, *_like(kinds, "eurlex57k", "laws, 583 words")],
        ["few texts", "[fewer than a few thousand](#few-texts)", "4,000 works of art", *_gain(few, "minilm")],
        [
            "very many labels", "[hundreds of thousands, or millions](#very-many-labels)",
            f"{large.task['statistics']['labels']:,} labels, generated", "–", *_cost(large),
        ],
        ["rare or new labels", "[labels that change, or that few texts have](#rare-and-new-labels)", *["–"] * 4],
        [
            "time for the last points", "[an hour of CPU, or a GPU](#with-an-encoder)",
            "works of art", *_gain(much, "xr-transformer"),
        ],
        ["a small machine", "[small and fast](#small-and-fast)", *_small(kinds)],
    ]  # fmt: skip
    head = ["your data", "what to type", "measured on", "P@1/3/5: linear preset → this", "CPU-s", "model, MB"]
    return markdown(head, lines, words=3)


def _like(kinds: Kinds, task: str, what: str) -> Sequence[str]:
    """The default settings and those that were chosen on a data set; the search is part of the cost."""
    rows = _by_entry(kinds, task)
    if _AUTO not in rows:
        return [what, *["–"] * 3]
    auto = rows[_AUTO]
    cost = (auto.training("cpu") or 0) + (auto.value("stages", "search", "cpu") or 0)
    facts = auto.task["statistics"]
    measured = f"{facts['texts']:,} {what}, {facts['labels']:,} labels"
    return [measured, f"{_precision(rows[_DEFAULT])} → {_precision(auto)}", figure(cost), _megabytes(auto)]


def _small(kinds: Kinds) -> Sequence[str]:
    row = _by_entry(kinds, "yso-swedish").get(_DEFAULT)
    return ["–"] * 4 if row is None else ["Swedish titles", _precision(row), *_cost(row)]


def _gain(rows: Sequence[Result], entry: str) -> Sequence[str]:
    """The first row, and one of the others."""
    row = next(one for one in rows if one.entry == entry)
    return [f"{_precision(rows[0])} → {_precision(row)}", *_cost(row)]


def _cost(row: Result) -> Sequence[str]:
    return [figure(row.training("cpu") or 0), _megabytes(row)]


def _megabytes(row: Result) -> str:
    return figure((row.value("model_bytes") or 0) / 1e6)


def label_names(kinds: Kinds) -> str:
    """What label names found in texts are worth to each method, data set after data set."""
    rows = [row.last for task in _SETS for row in kinds["names"].get(task, ())]
    head = ["", "", "texts", "without names", "with names", "all names known", "unseen found, %"]
    return markdown(head, [_named(row) for row in rows], words=2)


def _named(row: dict[str, Any]) -> list[str]:
    ways = row["ways"]
    without, counted, known = (ways[way] for way in ("without", "names", "names, all labels known"))
    told = ["/".join(f"{way[f'P@{k}'][0]:.1f}" for k in (1, 3, 5)) for way in (without, counted, known)]
    gains = [f" ({way['P@1'][1]:+.1f} ± {way['P@1'][2]:.1f})" if way["weights"] else "" for way in (counted, known)]
    gains = [gain.replace("-", "−") for gain in gains]
    cells = [told[0], *(one + gain if gain else "not used" for one, gain in zip(told[1:], gains, strict=True))]
    unseen = known["unseen found"][0]
    return [row["task"]["name"], row["entry"], f"{row['texts']:,}", *cells, f"{unseen:.0f}" if unseen else "–"]


BLOCKS: dict[str, Callable[[Kinds], str]] = {
    "quality-beside-cost": quality_beside_cost,
    "conditions": conditions,
    "presets": presets,
    "speed": speed,
    "growth": growth,
    "three-million": three_million,
    "heads-memory": heads_memory,
    "with-encoder": with_encoder,
    "few-texts": partial(with_encoder, few=True),
    "chosen": chosen,
    "situations": situations,
    "label-names": label_names,
}

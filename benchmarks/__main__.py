"""The command line: `python -m benchmarks {run,growth,scale,heads,tfidf,profile,page,releases,statistics,weights}`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.generate import SHAPES
from benchmarks.machine import ROOT
from benchmarks.plan import (
    ENTRIES,
    GROWTH,
    HEADS,
    QUICK,
    SCALE,
    Entry,
    growth_shape,
    head_entries,
    heads_shape,
    shape_of,
)  # fmt: skip
from benchmarks.results import newest
from benchmarks.run import Options, compare, record_statistics, vectorise
from benchmarks.tables import CLOSING, by_cost, comparison
from benchmarks.tasks import from_data, from_shape

WORK = ROOT / "benchmarks" / "work"
RESULTS = ROOT / "benchmarks" / "results"
QUICK_TEXTS = 5000
STATISTICS_TEXTS = 50_000  # a part of a shape has the same statistics
QUICK_GENERATED = "zipf-200k:0.05"


def main(arguments: list[str] | None = None) -> None:
    """Parse and do."""
    given = _parser().parse_args(arguments)
    given.command(given)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = _command(commands, "run", _run, "treetop beside its peers")
    run.add_argument("--data", type=Path, action="append", default=[], help="a data folder with train and test")
    run.add_argument("--generated", action="append", default=[], help="a generated task, as zipf-200k or zipf-200k:0.1")
    run.add_argument("--quick", action="store_true", help="few peers, small parts of the data: minutes")
    run.add_argument("--limit", type=int, help="training texts taken at random from each data folder")
    run.add_argument("--features", type=Path, help="a recipe whose features all are given, as `treetop tune` writes it")
    run.add_argument("--encoder", type=Path, help="a folder with a pretrained encoder, for the transformer methods")
    run.add_argument("--entries", help="names, separated by commas; default: all that can run, or the quick ones")
    growth = _command(commands, "growth", _growth, "cost from ten thousand to a million labels, treetop alone")
    growth.add_argument("--labels", type=int, action="append", help="instead of the default series")
    scale = _command(commands, "scale", _scale, "parts of Amazon-3M's shape, treetop alone")
    scale.add_argument("--fraction", type=float, action="append", help="instead of the default series")
    heads = _command(commands, "heads", _heads, "LightXML's and CascadeXML's steps and memory, to three million labels")
    heads.add_argument("--encoder", type=Path, required=True, help="a folder with a pretrained encoder")
    heads.add_argument("--labels", type=int, action="append", help="instead of the default series")
    tfidf = _command(commands, "tfidf", _tfidf, "texts to tf-idf, beside scikit-learn and PECOS")
    tfidf.add_argument("--data", type=Path, action="append", required=True)
    tfidf.add_argument("--limit", type=int)
    profile = commands.add_parser("profile", help="where treetop's own time goes, stage by stage")
    profile.add_argument("data", nargs="?", help="a data folder, or a generated task; default: a small generated one")
    profile.add_argument("--limit", type=int)
    profile.add_argument("--threads", type=int, default=2)
    profile.set_defaults(command=_profile)
    _command(commands, "statistics", _statistics, "generated data of every shape of the papers' Table 1")
    releases = _command(commands, "releases", _releases, "treetop beside an earlier release of itself")
    releases.add_argument(
        "--before", type=Path, required=True, help="the Python that has the earlier release installed"
    )
    releases.add_argument("--data", type=Path, action="append", required=True)
    weights = _command(commands, "weights", _weights, "float16 and int8 weights beside float32")
    weights.add_argument("--data", type=Path, action="append", required=True)
    page = commands.add_parser(
        "page", help="docs/benchmarks.md, its plots, and the figures in other pages, from the results"
    )
    page.add_argument("--results", type=Path, default=RESULTS)
    page.add_argument("--docs", type=Path, default=ROOT / "docs")
    page.set_defaults(command=_page)
    return parser


def _command(commands: argparse._SubParsersAction, name: str, action: Callable[..., None], text: str):  # type: ignore[no-untyped-def, type-arg]
    command = commands.add_parser(name, help=text)
    command.add_argument("--repeats", type=int, help="default: 3, quick and single runs 1")
    command.add_argument("--threads", type=int, default=2)
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--work", type=Path, default=WORK, help="tasks, models, predictions, environments")
    command.add_argument("--environments", type=Path, help="virtual environments made before, one folder per peer")
    command.add_argument("--results", type=Path, help="default: benchmarks/results; quick: inside the work folder")
    command.add_argument("--time-limit", type=float, default=3600.0, help="seconds for each phase of a peer")
    command.add_argument("--memory", type=float, default=20.0, help="GiB that a peer may use")
    command.set_defaults(command=action, quick=False, encoder=None)
    return command


def _options(given: argparse.Namespace, kind: str) -> Options:
    results = given.results or (given.work / "results" if given.quick else RESULTS)
    options = Options(
        work=given.work.resolve(),
        environments=(given.environments or given.work / "environments").resolve(),
        results=results,
        threads=given.threads,
        seed=given.seed,
        time_limit=given.time_limit,
        memory_gib=given.memory,
        encoder=given.encoder.resolve() if given.encoder else None,
        kind=kind,
    )
    return replace(options, singles=300, batches=3, seconds=5.0) if given.quick else options


def _run(given: argparse.Namespace) -> None:
    limit = given.limit or (QUICK_TEXTS if given.quick else None)
    entries = [_entry(name) for name in given.entries.split(",")] if given.entries else _default_entries(given)
    generated = given.generated or ([QUICK_GENERATED] if given.quick or not given.data else [])
    options = _options(given, "compare")
    tasks = [from_data(path, options.work, limit=limit, seed=given.seed, recipe=given.features) for path in given.data]
    tasks += [from_shape(name.replace(":", "-"), shape_of(name), options.work, seed=given.seed) for name in generated]
    for task in tasks:
        rows = compare(task, entries, given.repeats or (1 if given.quick else 3), options)
        (results,) = newest(rows, options.kind).values()
        print(comparison(by_cost(results), CLOSING))


def _default_entries(given: argparse.Namespace) -> list[Entry]:
    if given.quick:
        return [ENTRIES[name] for name in QUICK]
    return [entry for entry in ENTRIES.values() if given.encoder or not entry.needs_encoder]


def _growth(given: argparse.Namespace) -> None:
    options = _options(given, "growth")
    for labels in given.labels or GROWTH:
        task = from_shape(f"growth-{labels}", growth_shape(labels), options.work, seed=given.seed)
        compare(task, [_entry("treetop-xr-linear")], given.repeats or 1, options)


def _scale(given: argparse.Namespace) -> None:
    options = _options(given, "scale")
    for fraction in given.fraction or SCALE:
        task = from_shape(f"amazon-3m-{fraction:g}", shape_of(f"amazon-3m:{fraction}"), options.work, seed=given.seed)
        compare(task, [_entry("treetop-xr-linear")], given.repeats or 1, options)


def _heads(given: argparse.Namespace) -> None:
    options = replace(_options(given, "heads"), singles=100, batches=1)
    for labels in given.labels or HEADS:
        task = from_shape(f"heads-{labels}", heads_shape(labels), options.work, seed=given.seed, texts=True)
        compare(task, head_entries(labels), given.repeats or 1, options)


def _statistics(given: argparse.Namespace) -> None:
    options = _options(given, "statistics")
    for name, shape in SHAPES.items():
        record_statistics(name, shape.scaled(min(1.0, STATISTICS_TEXTS / shape.train)), options)


def _tfidf(given: argparse.Namespace) -> None:
    options = _options(given, "tfidf")
    entries = [
        Entry(name=f"{peer}-tfidf", title=title, peer=peer, settings=VECTORISE[peer])
        for peer, title in VECTORISERS.items()
    ]
    for path in given.data:
        task = from_data(path, options.work, limit=given.limit, seed=given.seed)
        vectorise(task, entries, given.repeats or 3, options)


VECTORISERS = {"treetop": "treetop", "sklearn": "scikit-learn", "pecos": "PECOS"}
VECTORISE: dict[str, dict[str, Any]] = {
    "treetop": {"tfidf": {}},
    "sklearn": {"tfidf": {}},
    "pecos": ENTRIES["pecos-xr-linear"].settings,
}


def _profile(given: argparse.Namespace) -> None:
    from benchmarks.profile import profile

    profile(given.data or QUICK_GENERATED, limit=given.limit, threads=given.threads)


def _releases(given: argparse.Namespace) -> None:
    from benchmarks.releases import compare_releases

    for path in given.data:
        print(compare_releases(given.before, path, repeats=given.repeats or 3, threads=given.threads))


def _weights(given: argparse.Namespace) -> None:
    from benchmarks.weights import compare_weights

    for path in given.data:
        print(compare_weights(path, repeats=given.repeats or 3, threads=given.threads))


def _page(given: argparse.Namespace) -> None:
    from benchmarks.page import write_figures, write_page

    write_page(given.results, given.docs)
    write_figures(given.results, given.docs.parent, given.docs.parent)


def _entry(name: str) -> Entry:
    if name not in ENTRIES:
        raise SystemExit(f"there is no entry '{name}'; choose from {', '.join(ENTRIES)}")
    return ENTRIES[name]


if __name__ == "__main__":
    main()

"""What the command line says to people: tables and summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE
from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from treetop.apps.measure import FEW_COPIES, Figures
from treetop.config import to_dict
from treetop.data import Dataset, Findings
from treetop.manifest import Verified
from treetop.methods import Method
from treetop.methods.registry import trainable
from treetop.metrics import BAND_WORDS
from treetop.predictions import Suggestion
from treetop.presets.registry import PRESETS
from treetop.progress.plan import size
from treetop.runtime import available_memory

if TYPE_CHECKING:
    from treetop.apps.analysis import Analysis
    from treetop.methods.ensemble import Ensemble

__all__ = [
    "compare_figures", "say_calibrated", "say_ensemble", "say_findings", "say_learned", "say_names", "say_split",
    "say_trained", "say_verified", "show_analysis", "show_figures", "show_model", "show_presets", "show_suggestions",
    "warn_of_memory",
]  # fmt: skip

out = Console()
notes = Console(stderr=True)


def say_findings(findings: Findings) -> None:
    """What was read, in a line, and what looks odd about it."""
    notes.print(str(findings), highlight=False, markup=False)
    for remark in findings.remarks:
        notes.print(f"  ! {remark}", style="yellow", highlight=False, markup=False)


def say_split(dataset: Dataset, parts: Mapping[str, NDArray[np.int64]], out: Path) -> None:
    """How many texts each part has, and what no model can know from them."""
    counts = ", ".join(f"{len(rows):,} {name}" for name, rows in parts.items())
    notes.print(f"{out}: {counts} texts", highlight=False, markup=False)
    left = len(dataset) - sum(len(rows) for rows in parts.values())
    if left:
        notes.print(f"  {left:,} later copies of earlier texts are in none of them", highlight=False)
    learned = np.unique(dataset.labels[parts["train"]].indices)
    unseen = len(np.unique(dataset.labels.indices)) - len(learned)
    if unseen:
        notes.print(f"  {unseen:,} labels have no training text", highlight=False)


def warn_of_memory(model: Method[Any], needed: int) -> None:
    """Before a training that needs more memory than there is: how to need less."""
    there = available_memory()
    if needed > there:
        notes.print(f"memory: about {size(needed)} needed, {size(there)} available")
        notes.print(f"[yellow]This may not fit. {model.memory_advice}[/yellow]")


def say_trained(model: Method[Any], path: Path) -> None:
    """After training: how much was learned from how much, at what cost."""
    facts = model.training
    notes.print(
        f"[bold]{model.name}[/bold]: {facts['texts']:,} texts, {facts['labels']:,} labels, "
        f"{facts['wall_seconds']:.1f} s ({facts['cpu_seconds']:.1f} s of CPU), "
        f"peak memory {size(facts['peak_rss_mib'] * 2**20)}, model {size(_bytes(path))} in {path}"
    )


def say_learned(model: Method[Any], path: Path, problem: str | None) -> None:
    """After training and calibrating: all that came of it, and what stood in the way of probabilities."""
    say_trained(model, path)
    say_names(model)
    say_calibrated(model, problem)
    say_kept(model)


def say_kept(model: Method[Any]) -> None:
    """How many texts stay with a model, and what room they take."""
    if model.kept is not None:
        size = f"{model.kept.size / 1e6:,.1f} MB of the model"
        notes.print(
            f"{len(model.kept):,} texts are kept for `treetop explain`: {size}", highlight=False, soft_wrap=True
        )


def say_names(model: Method[Any]) -> None:
    """Whether label names found in texts count, and what that did."""
    facts = model.training.get("label_names")
    if facts is None:
        return
    moved = f"{100 * facts['without']:.1f} to {100 * facts['best']:.1f} (± {100 * facts['error']:.1f})"
    told = f"the mean of P@1, P@3 and P@5 from {moved} on {facts['texts']:,} held-out texts"
    only = 0 if model.naming is None else len(model.space) - model.naming.trained
    more = f"; {only:,} labels without training texts can be suggested" if only else ""
    line = f"label names found in texts count: they moved {told}{more}" if facts["used"] else (
        f"label names do not count: at best they moved {told}"
    )  # fmt: skip
    notes.print(line, highlight=False, soft_wrap=True)


def say_calibrated(model: Method[Any], problem: str | None = None) -> None:
    """What probabilities rest on and which thresholds they suggest; or why there are none."""
    if problem is not None:
        notes.print(f"not calibrated: {problem}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    if model.calibration is None:
        return
    f1, sure = (model.calibration.threshold(aim) for aim in ("f1", "precision:0.9"))
    accept = "no label is right 9 times in 10" if sure == np.inf else f"9 of 10 are right from {sure:.2f} on"
    notes.print(
        f"calibrated on {model.calibration.evidence.texts:,} texts: scores are probabilities; "
        f"the best F1 is that of labels from {f1:.2f} on, {accept}",
        highlight=False,
        soft_wrap=True,
    )


def say_verified(found: Verified) -> None:
    """After every byte of a model folder was read and found to be what was saved."""
    out.print(f"verified: {found.files:,} files, {size(found.size)}, every byte as it was saved", highlight=False)
    for what, files in (("added", found.unlisted), ("edited", found.edited)):
        if files:
            out.print(f"{what} since: {', '.join(files)}", style="dim", highlight=False, markup=False)


def show_figures(figures: Figures, texts: str = "") -> None:
    """Metrics as a table of kinds by k, and where they come from by label frequency; `texts` says of which texts."""
    if figures.seen:
        notes.print(_seen(figures), highlight=False)
    cuts = sorted({int(name.partition("@")[2]) for name in figures.metrics})
    title = f"{figures.texts:,} {texts or 'texts'}, in per cent"
    table = Table(title=title, title_justify="left")
    table.add_column("metric")
    for cut in cuts:
        table.add_column(f"@{cut}", justify="right")
    for kind in dict.fromkeys(name.partition("@")[0] for name in figures.metrics):
        values = [figures.metrics.get(f"{kind}@{cut}") for cut in cuts]
        table.add_row(kind, *("" if value is None else f"{100 * value:.2f}" for value in values))
    out.print(table)
    if figures.passed:
        out.print(_passed(figures))
    if figures.calibration:
        out.print(_calibration(figures), highlight=False, soft_wrap=True)
    if figures.bands:
        out.print(_bands(figures))
    if figures.propensity is not None:
        of = f" of {figures.benchmark}" if figures.benchmark else ""
        constants = f"propensity constants{of}: A {figures.propensity.a}, B {figures.propensity.b}"
        out.print(constants, style="dim", highlight=False)
    if figures.unseen:
        found = "" if figures.unseen_found is None else f"; {100 * figures.unseen_found:.1f} % are among the ten best"
        out.print(
            f"{figures.unseen:,} true labels of these texts were never seen in training{found}",
            style="dim",
            soft_wrap=True,
        )


def compare_figures(models: Mapping[str, Figures]) -> None:
    """The metrics of several models on the same texts side by side, the best of each in bold, and their gain."""
    first, *others = models
    table = Table(title="side by side, in per cent", title_justify="left")
    table.add_column("metric")
    for name in models:
        table.add_column(name, justify="right")
    for name in others:
        table.add_column(f"gain of {name}", justify="right")
    for metric, start in models[first].metrics.items():
        values = [figures.metrics[metric] for figures in models.values()]
        shown = [
            f"[bold]{100 * value:.2f}[/bold]" if value == max(values) else f"{100 * value:.2f}" for value in values
        ]
        table.add_row(metric, *shown, *(f"{100 * (value - start):+.2f}" for value in values[1:]))
    out.print(table)


def _seen(figures: Figures) -> Panel | str:
    """What nobody may miss: the model knows these texts, so its figures on them are no result; a few copies are."""
    if (figures.seen or 0) < FEW_COPIES:
        return f"a few of these texts ({round((figures.seen or 0) * figures.texts):,}) are copies of training texts"
    share = f"{100 * (figures.seen or 0):.1f} % of these texts".replace("100.0 % of", "All of")
    advice = "Measure on texts it has not seen: see treetop split, or train with --test-share 0.1."
    return Panel(
        f"{share} are among those that the model was trained on. The figures below show what it remembers, not how "
        f"well it does on new texts. {advice}",
        title="seen in training", style="bold yellow", width=min(100, notes.width),
    )  # fmt: skip


def _passed(figures: Figures) -> Table:
    words = f" ({figures.threshold})" if isinstance(figures.threshold, str) else ""
    limit = "that of each label" if figures.cut is None else f"{figures.cut:.4g}"
    table = Table(title=f"labels with a score of at least {limit}{words}", title_justify="left")
    for name in figures.passed:
        table.add_column(name.replace("_", " "), justify="right")
    *shares, count = figures.passed.values()
    table.add_row(*(f"{100 * share:.2f}" for share in shares), f"{count:.2f}")
    return table


def _calibration(figures: Figures) -> str:
    """How far scores can be read as probabilities, in a line."""
    what = "probabilities" if figures.kind == "probability" else "scores, not calibrated"
    shares = {name: f"{100 * value:.2f}" for name, value in figures.calibration.items()}
    k = next(iter(shares)).partition("@")[2]
    rare = f" ({shares[f'ece_rare@{k}']} on rare labels)" if f"ece_rare@{k}" in shares else ""
    error = f"expected calibration error {shares[f'ece@{k}']}{rare}, Brier score {shares[f'brier@{k}']}"
    return f"{what}: {error}, of the {k} best labels, in per cent"


def _bands(figures: Figures) -> Table:
    table = Table(title="by how often a label was seen in training", title_justify="left")
    table.add_column("training texts")
    columns = list(next(iter(figures.bands.values())))
    for name in columns:
        table.add_column(name, justify="right")
    for band, values in figures.bands.items():
        if values["pairs"]:
            table.add_row(BAND_WORDS[band], *(f"{100 * values[name]:.1f}" for name in columns))
    return table


def show_suggestions(text: str, suggestions: Sequence[Suggestion], true: Sequence[str]) -> None:
    """One text, what was suggested (right ones marked), and what was right."""
    out.print(f"\n{_shorten(text)}", style="bold", highlight=False, markup=False)
    for one in suggestions:
        mark, style = ("✓", "green") if one.label in true else (" ", "dim")
        line = f"  {mark} {one.label:<44} {one.score:.3f}{'  unseen' if one.unseen else ''}"
        out.print(line, style=style, highlight=False, markup=False)
    missed = [label for label in true if label not in {one.label for one in suggestions}]
    if missed:
        out.print(f"    also right: {', '.join(missed)}", style="dim", highlight=False, markup=False)


def say_ensemble(model: Ensemble, paths: Sequence[Path]) -> None:
    """Who votes, and how."""
    weights = model.config.weights or (1.0,) * len(paths)
    votes = ", ".join(f"{path} × {weight:g}" for path, weight in zip(paths, weights, strict=True))
    notes.print(f"{model.config.fuser} of {votes}", highlight=False, markup=False)


def show_model(model: Method[Any], path: Path, depth: int) -> None:
    """The card of a model: method, cost, sizes, settings that matter, and the top of its label tree."""
    table = Table(title=str(path), title_justify="left", show_header=False)
    facts = {"method": model.name} | model.training | {"size on disk": size(_bytes(path))} | model.describe()
    facts |= {} if model.naming is None else model.naming.describe()
    facts |= {} if model.calibration is None else model.calibration.describe()
    facts.pop("label_names", None)
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value))
    for name, value in _flat(to_dict(model.config)):
        table.add_row(f"[dim]{name}[/dim]", f"[dim]{value}[/dim]")
    out.print(table)
    tree = model.label_tree()
    if tree is not None and depth > 0:
        out.print(tree.describe(model.space.names, depth=depth), highlight=False, markup=False)


def show_analysis(found: Analysis, pictures: Sequence[Path]) -> None:
    """What was seen inside a transformer, in numbers, and where the pictures are."""
    for width, share in zip(found.widths, found.recall, strict=True):
        out.print(f"level of {width:,} nodes: {100 * share:.2f} % of the true nodes are kept", highlight=False)
    table = Table(title="attention of the pooled token, by layer", title_justify="left")
    for column in ("layer", "to itself", "entropy", *(("to itself before", "entropy before") if found.before else ())):
        table.add_column(column, justify="right")
    parts = [part for part in (found.attention, found.before) if part is not None]
    columns = [values.mean(1) for part in parts for values in (part.to_itself, part.entropy)]
    for layer, row in enumerate(zip(*columns, strict=True), 1):
        table.add_row(str(layer), *(f"{value:.3f}" for value in row))
    out.print(table)
    if found.remark:
        out.print(f"no likeness of layers: {found.remark}", highlight=False)
    out.print(f"pictures: {', '.join(map(str, pictures))}", highlight=False)


def show_presets() -> None:
    """Named settings with their sources, and the methods."""
    table = Table(title="presets: treetop train --preset NAME …", title_justify="left")
    for column in ("preset", "method", "what", "from"):
        table.add_column(column)
    for entry in PRESETS.values():
        if entry.dataset is None:
            table.add_row(entry.name, entry.method, entry.summary, entry.source)
    out.print(table)
    _show_papers()
    methods = Table(title="methods: treetop train --method NAME …", title_justify="left")
    for column in ("method", "what"):
        methods.add_column(column)
    for record in trainable():
        methods.add_row(record.name, record.summary + (f" (extra: {record.extra})" if record.extra else ""))
    out.print(methods)


def _show_papers() -> None:
    """The presets of the papers, with what was published for them."""
    table = Table(title="presets of the papers, with the published P@1/3/5", title_justify="left", box=SIMPLE)
    for column in ("preset", "P@1/3/5", "models", "from"):
        table.add_column(column, no_wrap=column in ("preset", "P@1/3/5"))
    for entry in PRESETS.values():
        for number, row in enumerate(entry.published):
            figures = "/".join(f"{value:.1f}" for value in row.precision)
            table.add_row("" if number else entry.name, figures, row.models, row.source)
    out.print(table)


def _flat(values: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows = []
    for name, value in values.items():
        rows += _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return rows


def _shorten(text: str, length: int = 300) -> str:
    squeezed = " ".join(text.split())
    return squeezed if len(squeezed) <= length else squeezed[: length - 1] + "…"


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())

"""A comparison in the terminal: quality with paired differences, by label frequency, cost, and what is real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from treetop.apps.comparing.comparison import BAND_CUT, Comparison, Line
from treetop.apps.comparing.contenders import Cost
from treetop.apps.tables import notes, out
from treetop.metrics.breakdown import BAND_WORDS
from treetop.progress.plan import size

__all__ = ["SHOWN", "cost_cells", "show_comparison", "verdict_of"]

SHOWN = ("p@1", "p@3", "p@5", "ndcg@5", "psp@5")
"""What fits a terminal; all else is in the JSON file and in the report."""
_METRICS = "p@5: how many of the first five are right; ndcg: right ones early; psp: rare labels count more"
COST_HEADS = ("training", "CPU", "memory", "model", "texts per second")


def show_comparison(found: Comparison, metrics: Sequence[str] | None = None) -> None:
    """Print it; `metrics` are those to show, the usual ones if absent."""
    for remark in found.remarks():
        notes.print(f"! {remark}", style="yellow", highlight=False, markup=False)
    shown = {name: found.metrics[name] for name in metrics or SHOWN if name in found.metrics}
    out.print(_lines(f"{len(found.field.dataset):,} texts, in per cent", shown, found.names))
    if found.bands:
        bands = {BAND_WORDS.get(name, name): line for name, line in found.bands.items()}
        out.print(_lines(f"found among {BAND_CUT} suggestions, by training texts of a label", bands, found.names))
    if any(one.model is not None for one in found.field.contenders):
        out.print(_costs(found))
    if len(found.names) > 1:
        for name, line in shown.items():
            out.print(f"{name}: {verdict_of(line, found.names)}", highlight=False, markup=False)
        legend = (
            f"below a figure: difference to {found.names[0]} ± its paired standard error; ▲ ▼ real, ≈ may be chance"
        )
        out.print(legend, style="dim", highlight=False, markup=False)
    if any(name in SHOWN for name in shown):
        out.print(_METRICS, style="dim", highlight=False, markup=False)


def verdict_of(line: Line, names: Sequence[str]) -> str:
    """Who is best, and whose distance from the best may be chance, in words."""
    best, as_good = names[line.best], [names[place] for place in line.as_good]
    if not line.verdicts:
        return f"{best} is highest (differences of this metric have no error)"
    return (
        f"{best} is best, but not beyond chance: {', '.join(as_good)}" if as_good else f"{best} is best, beyond chance"
    )


def cost_cells(cost: Cost) -> list[str]:
    """Seconds, CPU-seconds and memory of the training, size of the model, speed of prediction; – where not known."""

    def told(value: float | None, form: str) -> str:
        return "–" if value is None else form.format(value)

    return [
        told(cost.train_seconds, "{:,.1f} s"),
        told(cost.train_cpu_seconds, "{:,.1f} s"),
        "–" if cost.train_mib is None else size(cost.train_mib * 2**20),
        "–" if cost.model_bytes is None else size(cost.model_bytes),
        told(cost.texts_per_second, "{:,.0f}"),
    ]


def _lines(title: str, lines: Mapping[str, Line], names: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for name in lines:
        table.add_column(name, justify="right", no_wrap=True)
    for place, name in enumerate(names):
        table.add_row(name, *(_cell(line, place) for line in lines.values()))
    return table


def _cell(line: Line, place: int) -> str:
    value, error = f"{100 * line.values[place]:.2f}", line.errors[place]
    shown = f"[bold]{value}[/bold]" if place == line.best else value
    verdict = line.against(place, 0) if place else None
    if verdict is None:
        return shown if error is None else f"{shown}\n[dim]±{100 * error:.2f}[/dim]"
    style = "dim" if not verdict.real else "green" if verdict.value > 0 else "red"
    gap = f"{100 * verdict.value:+.1f}±{100 * verdict.standard_error:.1f}{verdict.mark}"
    return f"{shown}\n[{style}]{gap}[/{style}]"


def _costs(found: Comparison) -> Table:
    table = Table(title="cost", title_justify="left")
    table.add_column("")
    for name in COST_HEADS:
        table.add_column(name, justify="right")
    for one in found.field.contenders:
        table.add_row(one.name, *cost_cells(one.cost))
    return table

"""What was made beside what was published, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.table import Table

from treetop.apps.reproducing.making import METRICS, Made
from treetop.apps.reproducing.order import Order
from treetop.apps.tables import notes, out
from treetop.presets.preset import Three

__all__ = ["say", "show"]


def say(order: Order) -> None:
    """Before anything is trained: what will be, and what differs from the paper."""
    names = ", ".join(member.name for member in order.members)
    notes.print(f"{order.preset.name}: {order.preset.summary}; models: {names}", highlight=False, markup=False)
    for remark in order.remarks:
        notes.print(f"  ! {remark}", style="yellow", highlight=False, markup=False, soft_wrap=True)


def show(order: Order, made: Sequence[Made]) -> None:
    """Figures in per cent, and hours of training."""
    title = f"{order.preset.method} on {order.preset.dataset}"
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for metric in METRICS:
        table.add_column(metric.upper(), justify="right", no_wrap=True)
    table.add_column("training", justify="right", no_wrap=True)
    for one in made:
        table.add_row(one.name, *(f"{100 * one.metrics[name]:.2f}" for name in METRICS), _hours(one.hours))
    table.add_section()
    for row in order.preset.published:
        hours = "–" if row.hours is None else f"{row.hours:g} h"
        table.add_row(f"paper: {row.models}", *_three(row.precision), *_three(row.psp), hours)
    out.print(table)
    rows = order.preset.published
    sources = ", ".join(dict.fromkeys(row.source for row in rows))
    hardware = " or ".join(dict.fromkeys(row.hardware for row in rows if row.hardware))
    notes.print(f"the paper's: {sources}; hours on {hardware}", highlight=False, markup=False, soft_wrap=True)


def _three(values: Three | None) -> list[str]:
    return ["–"] * 3 if values is None else [f"{value:.2f}" for value in values]


def _hours(hours: float) -> str:
    return f"{hours:.1f} h" if hours >= 0.1 else f"{3600 * hours:.0f} s"

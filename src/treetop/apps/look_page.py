"""A look at data, as a page in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treetop.apps.bars import bar
from treetop.apps.looking import Look
from treetop.metrics import BAND_WORDS

__all__ = ["show_look"]

_BAR = 20  # characters of the longest bar
_EXAMPLE = 240  # characters


def show_look(look: Look, console: Console | None = None) -> None:
    """Figures, histograms, frequent labels, examples, and what looks odd."""
    console = console or Console()
    console.print(_facts(look))
    sampled = 0 < sum(look.words_per_text.values()) < look.findings.texts
    histograms = {
        "labels per text": look.labels_per_text,
        f"words per text{' (of a sample)' if sampled else ''}": look.words_per_text,
        "texts per label": look.texts_per_label,
    }
    console.print()
    console.print(
        Columns([_histogram(title, counts) for title, counts in histograms.items() if counts], padding=(1, 4))
    )
    console.print()
    console.print(Columns([_bands(look), _frequent(look)], padding=(1, 4)))
    if look.others:
        console.print()
        console.print(_others(look))
    for part in (*_examples(look), _remarks(look)):
        console.print(part)


def _facts(look: Look) -> Table:
    found = look.findings
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), title=_title(look), title_justify="left")
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    per_text = (
        f"{found.true / max(1, found.texts):.2f} per text, {found.true / max(1, found.labels):.1f} texts per label"
    )
    table.add_row("texts", f"{found.texts:,}")
    table.add_row("labels", f"{found.labels:,}; {per_text}")
    table.add_row("how split", found.split or "labels are lists")
    table.add_row("without labels", _share(found.unlabelled, found.texts))
    table.add_row("duplicates", _share(found.duplicates, found.texts))
    if found.empty or found.null_texts:
        table.add_row("empty texts", f"{_share(found.empty, found.texts)}; {found.null_texts:,} null text fields")
    table.add_row("encoding", found.encoding)
    if look.release:
        table.add_row("files", f"as in releases of {look.release}")
    if look.benchmark:
        table.add_row("benchmark", f"{look.benchmark}, by its sizes")
    if look.label_texts:
        table.add_row("label texts", "labels have texts of their own")
    if look.features:
        table.add_row("features", f"{look.features:,} columns are shipped with the texts")
    return table


def _title(look: Look) -> str:
    return f"[bold]{look.findings.source}[/bold]" + (f" ({look.split})" if look.split else "")


def _histogram(title: str, counts: Mapping[str, int]) -> Table:
    table = _small(title)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(width=_BAR, no_wrap=True, style="cyan")
    largest = max(counts.values())
    for name, count in counts.items():
        table.add_row(name, f"{count:,}", bar(count / largest, _BAR))
    return table


def _bands(look: Look) -> Table:
    table = _small("labels by frequency", header=True)
    for name in ("", "labels", "pairs"):
        table.add_column(name, justify="right" if name else "left", header_style="dim")
    pairs = max(1, look.findings.true)
    for band, (labels, true) in look.bands.items():
        table.add_row(BAND_WORDS[band], f"{labels:,}", f"{100 * true / pairs:.0f} %")
    return table


def _frequent(look: Look) -> Table:
    table = _small("most frequent labels")
    table.add_column(max_width=40, no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", no_wrap=True)
    for name, count in look.frequent:
        table.add_row(Text(name), _share(count, look.findings.texts))
    return table


def _others(look: Look) -> Table:
    table = _small(f"other splits, beside {look.split}", header=True)
    for name in ("", "texts", "labels", "labels unseen", "texts shared"):
        table.add_column(name, justify="right" if name else "left", header_style="dim")
    for name, other in look.others.items():
        shared = _share(other.shared_texts, other.texts)
        warned = f"[yellow]{shared}[/yellow]" if other.shared_texts else shared
        table.add_row(name, f"{other.texts:,}", f"{other.labels:,}", _share(other.unseen_labels, other.labels), warned)
    return table


def _examples(look: Look) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for text, labels in look.examples:
        squeezed = " ".join(text.split())
        shown = squeezed if len(squeezed) <= _EXAMPLE else squeezed[: _EXAMPLE - 1] + "…"
        parts.append(Padding(Group(Text(shown), Text("→ " + " · ".join(labels[:12]), style="cyan")), (1, 0, 0, 2)))
    return [Text("\nexamples", style="bold"), *parts] if parts else []


def _remarks(look: Look) -> Group:
    remarks = list(look.findings.remarks)
    shared = [name for name, other in look.others.items() if other.shared_texts]
    if shared:
        remarks.append(
            f"{', '.join(shared)} shares texts with {look.split}: figures on them will be too good; remove them"
        )
    if not remarks:
        return Group(Text("\nnothing looks odd", style="green"))
    return Group(Text("\nwhat looks odd", style="bold"), *(Text(f"! {remark}", style="yellow") for remark in remarks))


def _small(title: str, *, header: bool = False) -> Table:
    return Table(
        box=None, title=f"[bold]{title}[/bold]", title_justify="left", padding=(0, 1, 0, 0), show_header=header
    )


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({100 * part / max(1, whole):.1f} %)" if part else "none"

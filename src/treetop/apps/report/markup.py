"""Pieces of HTML. What comes from data is escaped here, and nowhere is markup made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["NOTHING", "chips", "details", "facts", "figure", "legend", "section", "table", "text"]

NOTHING = "–"
"""Stands where there is no figure."""


def text(value: Any) -> str:
    """Anything as text."""
    return escape(str(value), quote=True)


def section(name: str, title: str, *parts: str) -> str:
    """A part of the page with a heading and a place that links lead to; nothing if it would be empty."""
    inner = "".join(parts)
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{text(title)}</h2>{inner}</section>'
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table of cells that are HTML; the first cell of a row is its heading, the others are numbers."""
    first, *others = heads
    top = f'<th scope="col">{text(first)}</th>' + "".join(
        f'<th scope="col" class="number">{text(head)}</th>' for head in others
    )
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f'<td class="number">{cell}</td>' for cell in row[1:]) + "</tr>"
        for row in rows
    )
    told = f"<caption>{text(caption)}</caption>" if caption else ""
    whole = f"<table>{told}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{whole}</div>'


def figure(drawing: str, caption: str, key: str = "") -> str:
    """A chart, what its colours mean, and what it is."""
    return f"<figure>{drawing}{key}<figcaption>{text(caption)}</figcaption></figure>"


def legend(names: Sequence[str]) -> str:
    """Which colour is whose."""
    items = "".join(f'<li class="c{number % 8}">{text(name)}</li>' for number, name in enumerate(names))
    return f'<ul class="legend">{items}</ul>'


def details(summary: str, *parts: str, opened: bool = False) -> str:
    """What opens when it is asked for."""
    return f"<details{' open' if opened else ''}><summary>{text(summary)}</summary>{''.join(parts)}</details>"


def facts(told: Mapping[str, Any]) -> str:
    """Names and values, those left out that are None or empty."""
    rows = "".join(
        f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in told.items() if value not in (None, "")
    )
    return f'<dl class="facts">{rows}</dl>'


def chips(items: Iterable[tuple[str, bool]]) -> str:
    """Labels in a row, marked as right or wrong."""
    row = "".join(f'<li class="{"right" if right else "wrong"}">{text(words)}</li>' for words, right in items)
    return f'<ul class="chips">{row}</ul>'

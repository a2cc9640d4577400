"""The worst errors on the page: a text, what is true of it, and what was suggested."""

from __future__ import annotations

from treetop.apps.report.gathering import Part, Report
from treetop.apps.report.markup import chips, details, section, text
from treetop.apps.report.mistakes import Mistake, Truth

__all__ = ["worst_errors"]

_KINDS = {"sure": "Sure, and wrong", "blind": "Nothing true among the ten best"}

_MOST = 12  # true labels that are shown


def worst_errors(report: Report) -> str:
    """Those of every contender, the first opened."""
    parts = [part for part in report.parts if part.mistakes]
    if not parts:
        return ""
    told = "<p>The first texts to look at: what misled the model, or a label that those who labelled it forgot.</p>"
    if len(parts) == 1:
        return section("errors", "Worst errors", told, *_kinds(parts[0]))
    opened = (details(part.name, *_kinds(part), opened=part is parts[0]) for part in parts)
    return section("errors", "Worst errors", told, *opened)


def _kinds(part: Part) -> list[str]:
    return [
        f"<h3>{title}</h3>" + "".join(_example(one) for one in part.mistakes if one.kind == kind)
        for kind, title in _KINDS.items()
        if any(one.kind == kind for one in part.mistakes)
    ]


def _example(one: Mistake) -> str:
    suggested = chips((f"{each.text} {each.score:.2f}", each.right) for each in one.suggested)
    true = chips((_told(each), each.place is not None) for each in one.true[:_MOST])
    more = f"<small>and {len(one.true) - _MOST} more</small>" if len(one.true) > _MOST else ""
    return (
        f'<div class="mistake"><blockquote>{text(one.text)}<small>text {one.row + 1:,}</small></blockquote>'
        f"<small>suggested</small>{suggested}{_reasons(one)}"
        f"<small>true, ✓ where it was in the list</small>{true}{more}</div>"
    )


def _told(one: Truth) -> str:
    place = "" if one.place is None else f" (place {one.place})"
    return one.text + (" (never seen in training)" if one.training_texts == 0 else place)


def _reasons(one: Mistake) -> str:
    """The words that spoke for the first suggestion."""
    if not one.reasons:
        return ""
    words = " · ".join(f"<b>{text(each.word)}</b> {each.contribution:+.2f}" for each in one.reasons)
    return f'<p class="reasons"><small>what spoke for {text(one.suggested[0].text)}: {words}</small></p>'

"""The sections of the page, each from the figures of a report; a section that has nothing to say is empty."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from treetop.apps.comparing.comparison import BAND_CUT, Line
from treetop.apps.comparing.tables import COST_HEADS, cost_cells, verdict_of
from treetop.apps.report.charts import in_columns
from treetop.apps.report.decisions import Chosen
from treetop.apps.report.drawings import (
    CURVES,
    draw_bands,
    draw_calibration,
    draw_frequency,
    draw_metrics,
    draw_thresholds,
    draw_training,
)
from treetop.apps.report.examples import worst_errors
from treetop.apps.report.gathering import Part, Report
from treetop.apps.report.markup import NOTHING, details, facts, figure, legend, section, table, text

__all__ = ["SECTIONS"]

_DRAWN = ("p@1", "p@3", "p@5", "r@10", "ndcg@5", "psp@5")
_SPELLED = {
    "p": ("P", "precision"),
    "r": ("R", "recall"),
    "rp": ("RP", "precision, where no more can be right"),
    "ndcg": ("nDCG", "right ones early"),
    "microf1": ("micro-F1", "all pairs alike"),
    "macrof1": ("macro-F1", "all labels alike"),
    "coverage": ("coverage", "labels found at least once"),
    "psp": ("PSP", "precision, rare labels count more"),
    "psndcg": ("PSnDCG", "the same, right ones early"),
}
"""Metrics for people: their name and what they are."""
_OF_CALIBRATION = {"ece": "calibration error", "ece_rare": "of rare labels", "brier": "Brier score"}


def _quality(report: Report) -> str:
    return _of_one(report) if len(report.names) == 1 else _side_by_side(report)


def _of_one(report: Report) -> str:
    """A chart, and a table of metrics by the number of suggestions."""
    lines = report.comparison.metrics
    kinds, cuts = (list(dict.fromkeys(name.split("@")[place] for name in lines)) for place in (0, 1))
    cuts.sort(key=int)
    rows = [
        [_named(kind), *(_cell(lines[name], 0) if (name := f"{kind}@{cut}") in lines else "" for cut in cuts)]
        for kind in kinds
    ]
    grid = table(["metric", *(f"@{cut}" for cut in cuts)], rows, "in per cent, with standard errors over texts")
    drawn = {_spelled(name): line for name, line in _drawn(report).items()}
    picture = figure(draw_metrics(drawn, report.names), "In per cent; lines are standard errors.")
    return section("quality", "Quality", f'<div class="charts">{picture}{grid}</div>')


def _side_by_side(report: Report) -> str:
    """A chart, differences to the first contender, who is best, and all metrics on demand."""
    names = report.names
    lines, drawn = (
        {_spelled(name): line for name, line in some.items()} for some in (report.comparison.metrics, _drawn(report))
    )
    told = (
        f"Below a figure: its difference to {names[0]} ± the paired standard error; ▲ better or ▼ worse beyond chance "
        "(95 %, Holm), ≈ may be chance."
    )
    items = "".join(f"<li>{text(metric)}: {text(verdict_of(line, names))}</li>" for metric, line in drawn.items())
    main, whole = (
        table(["metric", *names], [[text(metric), *_cells(line)] for metric, line in some.items()], "in per cent")
        for some in (drawn, lines)
    )
    picture = figure(draw_metrics(drawn, names), "In per cent; lines are standard errors over texts.", legend(names))
    parts = (picture, main, f'<p class="quiet">{text(told)}</p><ul>{items}</ul>', details("All metrics", whole))
    return section("quality", "Quality", *parts)


def _drawn(report: Report) -> dict[str, Line]:
    lines = report.comparison.metrics
    return {name: lines[name] for name in _DRAWN if name in lines} or lines


def _spelled(metric: str) -> str:
    kind, at, cut = metric.partition("@")
    return _SPELLED.get(kind, (kind, ""))[0] + at + cut


def _named(kind: str) -> str:
    """A metric by its name, and what it is below."""
    name, meaning = _SPELLED.get(kind, (kind, ""))
    return f"{text(name)}<small>{text(meaning)}</small>"


def _cells(line: Line) -> list[str]:
    return [_cell(line, place) for place in range(len(line.values))]


def _cell(line: Line, place: int) -> str:
    value, error = f"{100 * line.values[place]:.2f}", line.errors[place]
    shown = f'<span class="best">{value}</span>' if place == line.best and len(line.values) > 1 else value
    verdict = line.against(place, 0) if place else None
    if verdict is None:
        return shown + ("" if error is None else f"<small>± {100 * error:.2f}</small>")
    kind = "" if not verdict.real else "better" if verdict.value > 0 else "worse"
    gap = f"{100 * verdict.value:+.2f} ± {100 * verdict.standard_error:.2f} {verdict.mark}"
    return f'{shown}<small class="{kind}">{gap}</small>'


def _bands(report: Report) -> str:
    found, names = report.comparison, report.names
    if not found.bands:
        return ""
    picture = draw_bands(found.bands, names)
    told = f"Of the true labels of each band the share that is among {BAND_CUT} suggestions."
    rows = [
        [text(band), *(f"{100 * found.shares[band][of]:.1f}" for of in ("labels", "pairs")), *_cells(line)]
        for band, line in reversed(found.bands.items())
    ]
    heads = ["band", "labels, %", "true pairs, %", *names]
    frequency = report.field.frequency
    assert frequency is not None  # as there are bands
    pictures = figure(picture, told, _key(names)) + figure(
        draw_frequency(frequency), "Training texts of each label, on logarithmic axes."
    )
    grid = table(heads, rows, f"found among {BAND_CUT}, in per cent")
    return section("bands", "Common and rare labels", f'<div class="charts">{pictures}</div>', grid)


def _key(names: Sequence[str]) -> str:
    """Colours need no key if there is but one."""
    return legend(names) if len(names) > 1 else ""


def _probabilities(report: Report) -> str:
    parts = [part for part in report.parts if part.diagram is not None]
    if not parts:
        told = "The scores are no numbers from 0 to 1. <code>treetop calibrate</code> turns them into probabilities."
        return section("probabilities", "How sure it is", f"<p>{told}</p>")
    known = [name for name in _OF_CALIBRATION if any(_figure(part, name) is not None for part in parts)]
    rows = [[text(part.name), *(_per_cent(_figure(part, name)) for name in known)] for part in parts]
    caption = "of the ten best labels of each text, in per cent; 0 is perfect; rare: up to ten training texts"
    grid = table(["", *(_OF_CALIBRATION[name] for name in known)], rows, caption)
    told = "On the dotted line what is said with 70 % is right in 70 of 100 cases. Larger points: more labels."
    picture = figure(draw_calibration(report.parts), told, _key(report.names))
    inner = f'<div class="charts">{picture}<div>{grid}{_uncalibrated(report)}</div></div>'
    return section("probabilities", "How sure it is", inner)


def _uncalibrated(report: Report) -> str:
    kinds = [(one.name, one.predictions.kind) for one in report.field.contenders]
    raw = ", ".join(name for name, kind in kinds if kind != "probability")
    return f'<p class="quiet">Not calibrated: {text(raw)}. Scores are as the method gives them.</p>' if raw else ""


def _figure(part: Part, name: str) -> float | None:
    return next((value for key, value in part.calibration.items() if key.partition("@")[0] == name), None)


def _per_cent(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.2f}"


def _thresholds(report: Report) -> str:
    parts = [part for part in report.parts if part.curve]
    if not parts:
        return ""
    told = "Of the labels whose score is at or above the threshold."
    pictures = "".join(figure(draw_thresholds(part), part.name if len(parts) > 1 else told) for part in parts)
    return section(
        "thresholds",
        "From which score on",
        legend(list(CURVES.values())),
        f'<div class="charts">{pictures}</div>',
        *(_chosen(part, part.name if len(parts) > 1 else "") for part in parts),
    )


def _chosen(part: Part, title: str = "") -> str:
    if not part.chosen:
        return ""
    rows = [
        [text(one.aim), _cut(one), *(_of(one, name) for name in (*CURVES, "labels_per_text"))] for one in part.chosen
    ]
    heads = ["aim", "threshold", *CURVES.values(), "labels per text"]
    caption = f"{title + ': ' if title else ''}thresholds chosen on held-out texts, and what they did here, in per cent"
    return f"<div>{table(heads, rows, caption)}</div>"


def _cut(one: Chosen) -> str:
    if one.cut is None:
        return "each its own"
    return f"{one.cut:.3f}" if one.cut <= 1 else "none reaches it"


def _of(one: Chosen, name: str) -> str:
    value = one.figures[name]
    return f"{value:.2f}" if name == "labels_per_text" else f"{100 * value:.1f}"


def _labels(report: Report) -> str:
    names, several = report.names, len(report.names) > 1
    heads = {"label": "label", **({} if report.field.frequency is None else {"learned": "training texts"})}
    heads |= {"true": "texts", "suggested": "suggested", "precision": "precision", "recall": "recall"}
    heads |= {f"f1-{place}": f"F1 {name}" for place, name in enumerate(names)} if several else {"f1": "F1"}
    row = "".join(
        f'<th scope="col" data-column="{column}"{"" if column == "label" else " class=number"}>'
        f'<button type="button">{text(head)}</button></th>'
        for column, head in heads.items()
    )
    options = "".join(f'<option value="{place}">{text(name)}</option>' for place, name in enumerate(names))
    chooser = f'<label>Model <select id="model">{options}</select></label>' if several else ""
    rules = "; ".join(dict.fromkeys((f"{part.name}: " if several else "") + part.labels.rule for part in report.parts))
    return section(
        "every-label",
        "Every label",
        f"<p>Suggested: {text(rules)}. Confused with: wrong labels that stand where the label should have stood.</p>",
        f'<div class="tools"><label>Search <input id="search" type="search" autocomplete="off"></label>{chooser}'
        '<button type="button" id="earlier">← earlier</button><button type="button" id="later">later →</button></div>',
        '<div class="scroll" tabindex="0"><table id="labels" aria-busy="true" aria-describedby="shown"><thead><tr>',
        f'{row}<th scope="col">confused with</th></tr></thead><tbody></tbody></table></div>',
        '<p id="shown" class="quiet" role="status"></p>',
        "<noscript><p>The table of labels needs JavaScript; all else does not.</p></noscript>",
    )


def _training(report: Report) -> str:
    curves = {part.name: part.about.get("training_curve") or [] for part in report.parts}
    drawn = {name: records for name, records in curves.items() if any("loss" in record for record in records)}
    if not drawn:
        return ""
    pictures = [
        figure(draw_training(records), f"{name}: loss, a line for each level or run") for name, records in drawn.items()
    ]
    return section("training", "Training", f'<div class="charts">{"".join(pictures)}</div>')


def _cost(report: Report) -> str:
    rows = [[text(one.name), *map(text, cost_cells(one.cost))] for one in report.field.contenders]
    if not any(one.model for one in report.field.contenders):
        return ""
    told = f"Speed is that of {len(report.field.dataset):,} texts at once, on the machine that made this report."
    return section("cost", "Cost", table(["", *COST_HEADS], rows), f'<p class="quiet">{told}</p>')


def _data(report: Report) -> str:
    data = report.data
    unseen = data["unseen_labels"]
    told = {
        "source": f"{data['source']} ({data['split']})" if data["source"] else data["split"],
        "texts": f"{data['texts']:,}",
        "true labels": f"{data['labels']:,}, {data['pairs'] / max(data['texts'], 1):.2f} per text",
        "never seen in training": f"{unseen:,} true labels, which no model can find" if unseen else "",
        "without labels": f"{data['without_labels']:,} texts" if data["without_labels"] else "",
        "duplicates": f"{data['duplicates']:,} texts" if data["duplicates"] else "",
        "fingerprint": data["fingerprint"],
    }
    pictures = "".join(
        figure(in_columns(name.replace("_", " "), data[name], name.replace("_", " ")), "")
        for name in ("labels_per_text", "words_per_text")
        if data[name]
    )
    remarks = "".join(f"<li>{text(remark)}</li>" for remark in data["remarks"])
    return section(
        "data", "Data", facts(told), f'<div class="charts">{pictures}</div>', f"<ul>{remarks}</ul>" if remarks else ""
    )


def _settings(report: Report) -> str:
    parts = [_setting(part) for part in report.parts if part.about]
    return section("settings", "Settings and versions", *parts, facts(report.versions))


def _setting(part: Part) -> str:
    about: dict[str, Any] = part.about
    training = {name.replace("_", " "): value for name, value in about["training"].items()}
    config = json.dumps(about["config"], indent=2, ensure_ascii=False)
    told = facts({"method": about["method"]} | about["facts"] | training)
    return details(f"{part.name}: {about['method']}", told, f"<pre>{text(config)}</pre>")


SECTIONS: dict[str, tuple[str, Callable[[Report], str]]] = {
    "quality": ("Quality", _quality),
    "bands": ("Common and rare", _bands),
    "probabilities": ("Probabilities", _probabilities),
    "thresholds": ("Thresholds", _thresholds),
    "every-label": ("Labels", _labels),
    "errors": ("Errors", worst_errors),
    "data": ("Data", _data),
    "training": ("Training", _training),
    "cost": ("Cost", _cost),
    "settings": ("Settings", _settings),
}
"""By the names that links lead to: what the link says, and what makes the section."""

"""A report as one HTML file that asks for nothing: its style and script are in it, and all else is forbidden to it."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from treetop.apps.report.gathering import Report
from treetop.apps.report.markup import text
from treetop.apps.report.packed import packed_labels
from treetop.apps.report.sections import SECTIONS

__all__ = ["page_of"]

_TILES = {"p@1": "P@1", "p@5": "P@5", "r@10": "R@10", "ndcg@5": "nDCG@5"}


def page_of(report: Report) -> str:
    """The whole page."""
    style, script = _asset("report.css"), _asset("report.js")
    title = text(f"treetop report: {', '.join(report.names)}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body>{_body(report)}"
        f'<script type="application/octet-stream" id="packed">{packed_labels(report)}</script>'
        f"<script>{script}</script></body></html>\n"
    )


def _policy(style: str, script: str) -> str:
    """Only what is in the page may run, which its digests say; nothing may be loaded or sent."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _asset(name: str) -> str:
    return files("treetop.apps.report").joinpath(name).read_text(encoding="utf-8")


def _body(report: Report) -> str:
    made = {name: (title, make(report)) for name, (title, make) in SECTIONS.items()}
    links = "".join(f'<li><a href="#{name}">{text(title)}</a></li>' for name, (title, whole) in made.items() if whole)
    whole = "".join(one for _, one in made.values())
    return (
        f'{_header(report)}<nav aria-label="Sections"><ul>{links}</ul></nav><main>{_tiles(report)}{whole}</main>'
        f"<footer>Made by treetop {text(report.versions['treetop'])}, {text(report.made)}. This file asks for nothing: "
        "it can be kept, sent and opened anywhere.</footer>"
    )


def _header(report: Report) -> str:
    title = " · ".join(report.names)
    data = report.data
    told = f"{data['texts']:,} texts, {data['labels']:,} labels{' · ' + data['source'] if data['source'] else ''}"
    remarks = "".join(f'<p class="warning">{text(remark)}</p>' for remark in report.remarks())
    return f'<header><h1>{text(title)}</h1><p class="quiet">{text(told)}</p>{remarks}</header>'


def _tiles(report: Report) -> str:
    """The figures of one model that people look for first."""
    if len(report.names) > 1:
        return ""
    lines = report.comparison.metrics
    tiles = {title: (lines[name].values[0], lines[name].errors[0]) for name, title in _TILES.items() if name in lines}
    items = [
        f"<li><span>{text(title)}</span><b>{100 * value:.1f}</b><span>± {100 * (error or 0):.1f}</span></li>"
        for title, (value, error) in tiles.items()
    ]
    best = next((one for one in report.parts[0].chosen if one.aim == "f1"), None)
    if best is not None:
        told = f"from {best.cut:.2f} on"
        items.append(f"<li><span>micro-F1</span><b>{100 * best.figures['microf1']:.1f}</b><span>{told}</span></li>")
    diagram = report.parts[0].diagram
    if diagram is not None:
        items.append(
            f"<li><span>calibration error</span><b>{100 * diagram.error:.1f}</b><span>of the ten best</span></li>"
        )
    return f'<ul class="tiles">{"".join(items)}</ul>'

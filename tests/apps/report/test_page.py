"""The page as a whole; what it does in a browser is in tests/browser."""

from __future__ import annotations

import base64
import hashlib
import re

from treetop.apps.report import Report, page_of


def test_the_page_allows_what_is_in_it_and_nothing_else(report: Report) -> None:
    page = page_of(report)
    found = re.search('Content-Security-Policy" content="([^"]+)"', page)
    assert found is not None
    policy = found[1]
    assert policy.startswith("default-src 'none'")
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not re.search(r"\sstyle=|\son\w+=|https?://|<link|<iframe", page)


def test_links_lead_to_sections_and_ids_are_unique(report: Report) -> None:
    page = page_of(report)
    names = re.findall(r'\sid="([^"]+)"', page)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(names)


def test_a_model_alone_has_its_figures_on_top(alone: Report, report: Report) -> None:
    value = alone.comparison.metrics["p@1"].values[0]
    assert f"<span>P@1</span><b>{100 * value:.1f}</b>" in page_of(alone)
    assert "<span>P@1</span>" not in page_of(report)


def test_names_are_text(report: Report) -> None:
    from dataclasses import replace

    first, *others = report.field.contenders
    renamed = replace(report.field, contenders=(replace(first, name="<b>evil"), *others))
    page = page_of(replace(report, comparison=replace(report.comparison, field=renamed)))
    assert "<b>evil" not in page
    assert "&lt;b&gt;evil" in page

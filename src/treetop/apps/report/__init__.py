"""A report on one model or several: gathered once, then drawn as a page, or written as JSON or csv."""

from __future__ import annotations

from treetop.apps.report.gathering import Report, gather
from treetop.apps.report.page import page_of

__all__ = ["Report", "gather", "page_of"]

"""From texts to features."""

from __future__ import annotations

from treetop.text.tfidf import Tfidf, TfidfConfig

__all__ = ["Tfidf", "TfidfConfig"]

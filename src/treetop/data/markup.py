"""Texts with HTML in them: how to tell, and how to get rid of it."""

from __future__ import annotations

import re
from html import unescape

__all__ = ["looks_marked_up", "without_markup"]

_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>]*)?/?>|<!--.*?-->", re.DOTALL)
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_INLINE = re.compile(r"</?(?:a|abbr|b|code|em|font|i|mark|q|s|small|span|strong|sub|sup|tt|u)\b[^<>]*>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{2,6}|#x[0-9a-fA-F]{2,5});")


def looks_marked_up(text: str) -> bool:
    """Whether a text holds HTML tags or character references."""
    return ("<" in text and _TAG.search(text) is not None) or ("&" in text and _ENTITY.search(text) is not None)


def without_markup(text: str) -> str:
    """The text as a browser shows it, more or less: no tags, no scripts, character references resolved."""
    if "<" in text:
        text = _UNSEEN.sub(" ", text)
        text = _TAG.sub(" ", _INLINE.sub("", text))
    return unescape(text).strip() if "&" in text else text.strip()

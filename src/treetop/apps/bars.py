"""Bars of block characters, in eighths of a character."""

from __future__ import annotations

__all__ = ["bar"]

_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int) -> str:
    """A bar of a share of `width` characters; whatever is above zero is seen."""
    whole, part = divmod(round(share * width * 8), 8)
    return "█" * whole + _EIGHTHS[part].strip() or ("▏" if share else "")

"""`treetop presets`: list the named settings and the methods."""

from __future__ import annotations

__all__ = ["presets"]


def presets() -> None:
    """List the named settings and the methods."""
    from treetop.apps import tables

    tables.show_presets()

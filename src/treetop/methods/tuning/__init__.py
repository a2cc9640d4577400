"""How the networks of the methods learn: all of them that needs torch, imported when a training begins."""

from __future__ import annotations

__all__: list[str] = []

"""Reading: who runs an encoder where nothing learns. Light to import: no torch, no transformers, no other engine."""

from __future__ import annotations

from treetop.text.reading.reader import Reader, read_states

__all__ = ["Reader", "read_states"]

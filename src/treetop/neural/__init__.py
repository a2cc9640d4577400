"""The neural learners: a scorer per level, shortlist, losses, and the one training loop. Needs the extra `neural`."""

from __future__ import annotations

__all__: list[str] = []

"""The neural learners: a scorer per level, candidates, losses, and the one training loop. Needs the extra `neural`."""

from __future__ import annotations

import importlib.util

from treetop.errors import MissingExtraError

__all__: list[str] = []

if importlib.util.find_spec("torch") is None:
    raise MissingExtraError("torch", "neural")

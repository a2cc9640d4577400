"""Settings found on held-out texts: what `treetop tune` shows, and what `treetop train` chooses by."""

from __future__ import annotations

from treetop.apps.tuning.budget import Budget
from treetop.apps.tuning.outcome import Outcome
from treetop.apps.tuning.search import Wish, tune

__all__ = ["Budget", "Outcome", "Wish", "tune"]

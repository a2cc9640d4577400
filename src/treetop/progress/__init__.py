"""How far a run is: its plan, how long it has to go, and who is told."""

from __future__ import annotations

from treetop.progress.plan import Plan, Stage
from treetop.progress.telling import Advance, Lines, Logged, Progress
from treetop.progress.terminal import Terminal

__all__ = ["Advance", "Lines", "Logged", "Plan", "Progress", "Stage", "Terminal"]

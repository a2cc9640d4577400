"""What the metrics' fixtures build: predictions and truths out of plain lists."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from treetop.predictions import Predictions
from treetop.types import CSR

__all__ = ["Ranked", "Truth"]

Truth: TypeAlias = Callable[[Sequence[Collection[int]], int], CSR]
"""Label lists, and how many labels there are → texts × labels."""
Ranked: TypeAlias = Callable[[Sequence[Sequence[int]]], Predictions]
"""Ranked label lists, -1 where there are fewer → predictions with falling scores."""

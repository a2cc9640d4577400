"""All that can be asked of a service: a file each, listed here."""

from __future__ import annotations

from treetop.apps.serve.endpoint import Endpoint
from treetop.apps.serve.endpoints import feedback, health, labels, models, suggest, tree

__all__ = ["ALL"]

ALL: tuple[Endpoint, ...] = (
    suggest.ENDPOINT, models.ENDPOINT, labels.ENDPOINT, tree.ENDPOINT, feedback.ENDPOINT, health.ENDPOINT,
)  # fmt: skip
"""The busiest first: they are looked for in this order."""

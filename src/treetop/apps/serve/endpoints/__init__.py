"""All that can be asked of a service: a file each, listed here."""

from __future__ import annotations

from treetop.apps.serve.endpoint import Endpoint
from treetop.apps.serve.endpoints import (
    annif,
    description,
    feedback,
    health,
    label_studio,
    labels,
    metrics,
    models,
    suggest,
    tree,
)

__all__ = ["ALL", "PATHS"]

ALL: tuple[Endpoint, ...] = (
    suggest.ENDPOINT, models.ENDPOINT, labels.ENDPOINT, tree.ENDPOINT, feedback.ENDPOINT, health.ENDPOINT,
    metrics.ENDPOINT, *description.ENDPOINTS, *annif.ENDPOINTS, *label_studio.ENDPOINTS,
)  # fmt: skip
"""The busiest first: they are looked for in this order."""

PATHS = tuple(dict.fromkeys(endpoint.path for endpoint in ALL))
"""What requests are counted by."""

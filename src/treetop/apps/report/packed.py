"""The figures of every label, packed for the page: columns as JSON, deflated, in base64.

At 55,000 labels they would be most of the page, and are mostly zeros and words that repeat. The browser unpacks them
and shows some rows at a time.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

from treetop.apps.report.gathering import Report

__all__ = ["pack", "packed_labels"]


def packed_labels(report: Report) -> str:
    """Names, texts and training texts of all labels, and what each contender did with them."""
    space, frequency = report.field.dataset.space, report.field.frequency
    columns: dict[str, Any] = {
        "names": list(space.names),
        "texts": None if space.texts is None else list(space.texts),
        "learned": None if frequency is None else frequency.tolist(),
        "true": report.parts[0].labels.true.tolist(),
        "models": [
            {
                "name": part.name,
                "suggested": part.labels.suggested.tolist(),
                "right": part.labels.right.tolist(),
                "confused": _confused(part.labels.confused.labels),
            }
            for part in report.parts
        ],
    }
    return pack(columns)


def _confused(labels: Any) -> dict[str, list[int]]:
    """The labels that each label is confused with, for those that are."""
    rows = np.flatnonzero((labels >= 0).any(axis=1))
    return {str(row): [label for label in labels[row].tolist() if label >= 0] for row in rows.tolist()}


def pack(value: Any) -> str:
    """JSON, deflated, in base64."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode("ascii")

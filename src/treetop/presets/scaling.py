"""A preset's settings for fewer texts and labels than its benchmark has: the same path, at another size.

Steps follow the number of texts, so that as many passes are made; levels of a tree follow the number of labels, as
powers of two, and there are as many of them; which levels an encoder is tuned on stays the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from treetop.errors import DataError

__all__ = ["scaled"]

TREES = ("tree", "coarse_tree", "fine_tree")


def scaled(values: dict[str, Any], texts: float, labels: int, of_labels: int) -> dict[str, Any]:
    """The settings for a share of the benchmark's texts, and for `labels` instead of its `of_labels`."""
    found = {**values, "optim": _scaled_course(values["optim"], texts)}
    if "steps" in values:
        found["steps"] = [_steps(steps, texts) for steps in values["steps"]]
    for tree in TREES:
        if tree in values and "widths" in values[tree]:
            found[tree] = {**values[tree], "widths": _scaled_widths(values[tree]["widths"], labels, of_labels)}
    if "finest" in values:
        found["finest"] = labels if of_labels <= values["finest"] else found["coarse_tree"]["widths"][-1]
    return found


def _scaled_course(optim: dict[str, Any], texts: float) -> dict[str, Any]:
    found = dict(optim)
    for name in ("steps", "average_every"):
        if name in optim:
            found[name] = _steps(optim[name], texts)
    if optim.get("warmup", 0) >= 1:
        found["warmup"] = max(1, round(optim["warmup"] * texts))
    return found


def _steps(steps: int, share: float) -> int:
    return max(2, round(steps * share))


def _scaled_widths(widths: Sequence[int], labels: int, of_labels: int) -> list[int]:
    """As many levels, each a power of two, of about the same number of labels below a node."""
    powers: list[int] = []
    most = math.ceil(math.log2(max(labels, 1))) - 1
    for place, width in reversed(list(enumerate(widths))):
        least = place + 1
        if most < least:
            problem = f"{labels:,} labels are too few for a tree of {len(widths)} levels above them"
            raise DataError(f"{problem}; take a larger share of the texts")
        powers.append(min(most, max(least, round(math.log2(width * labels / of_labels)))))
        most = powers[-1] - 1
    return [2**power for power in reversed(powers)]

"""Losses over shortlist: binary cross-entropy and squared hinge, weighted, with empty places masked.

With logit z, target y in {0, 1} and weight w of a shortlisted node:

    bce            w · (log(1 + e^z) − y·z)
    squared_hinge  w · max(0, 1 − (2y − 1)·z)²

The weight is the target where that is positive, so that relevance acts as cost (XR-Transformer, eq. 6), and
`negative` (α there) for the others. The per-text sum is divided by:

    "real"   the shortlist of that text (default: what else is in the batch does not matter)
    "width"  the padded width, as the authors of LightXML, XR-Transformer and CascadeXML did
    "sum"    nothing, as in the formulas of LightXML (eq. 1 and 5)

and averaged over texts, so that a batch split over processes has the same gradient as the whole.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from treetop.neural.settings import Divisor

__all__ = ["LOSSES", "bce", "squared_hinge"]


def bce(
    logits: Tensor, hit: Tensor, shortlist: Tensor | None = None, divide_by: Divisor = "real", negative: float = 1.0
) -> Tensor:
    """Binary cross-entropy with logits; `hit` is what `targets` gives, `shortlist` shows which places are empty."""
    logits = _without_empty(logits, shortlist)
    each = functional.binary_cross_entropy_with_logits(logits, (hit > 0).to(logits.dtype), reduction="none")
    return _reduce(each * torch.where(hit > 0, hit, negative), shortlist, divide_by)


def squared_hinge(
    logits: Tensor, hit: Tensor, shortlist: Tensor | None = None, divide_by: Divisor = "real", negative: float = 1.0
) -> Tensor:
    """Squared hinge with margin 1; `hit` is what `targets` gives, `shortlist` shows which places are empty."""
    logits = _without_empty(logits, shortlist)
    each = (1 - torch.where(hit > 0, logits, -logits)).clamp(min=0).square()
    return _reduce(each * torch.where(hit > 0, hit, negative), shortlist, divide_by)


LOSSES = {"bce": bce, "squared_hinge": squared_hinge}
"""Losses by the names that configurations use."""


def _without_empty(logits: Tensor, shortlist: Tensor | None) -> Tensor:
    """Zero in empty places: their logit is -inf, whose gradient would be NaN even when multiplied by zero."""
    logits = logits.float()
    return logits if shortlist is None else logits.masked_fill(shortlist < 0, 0.0)


def _reduce(each: Tensor, shortlist: Tensor | None, divide_by: Divisor) -> Tensor:
    count = each.new_full((len(each), 1), float(max(each.shape[1], 1)))
    if shortlist is not None:
        real = shortlist >= 0
        each = each * real
        count = real.sum(1, keepdim=True).clamp(min=1).to(each.dtype) if divide_by == "real" else count
    total = each.sum(1, keepdim=True)
    return (total if divide_by == "sum" else total / count).mean()

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from treetop.neural.losses import LOSSES

SHORTLIST = [[4, 2, 7, -1], [1, -1, -1, -1], [0, 3, 5, 6]]
LOGITS = [[0.5, -1.2, 2.0, -math.inf], [0.3, -math.inf, -math.inf, -math.inf], [-0.4, 1.5, 0.0, -3.0]]
HITS = [[1.0, 0.0, 2.5, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]


def longhand(name: str, divide_by: str, negative: float) -> float:
    rows = []
    for shortlist, logits, hits in zip(SHORTLIST, LOGITS, HITS, strict=True):
        total = 0.0
        for node, z, hit in zip(shortlist, logits, hits, strict=True):
            if node >= 0:
                y = 1 if hit > 0 else 0
                each = math.log1p(math.exp(z)) - y * z if name == "bce" else max(0.0, 1 - (2 * y - 1) * z) ** 2
                total += each * (hit if y else negative)
        count = {"real": sum(c >= 0 for c in shortlist), "width": 4, "sum": 1}[divide_by]
        rows.append(total / count)
    return float(np.mean(rows))


@pytest.mark.parametrize("negative", [1.0, 0.3])
@pytest.mark.parametrize("divide_by", ["real", "width", "sum"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_equal_their_formulas(name: str, divide_by: Any, negative: float) -> None:
    logits = torch.tensor(LOGITS, requires_grad=True)
    loss = LOSSES[name](logits, torch.tensor(HITS), torch.tensor(SHORTLIST), divide_by, negative)
    assert float(loss.detach()) == pytest.approx(longhand(name, divide_by, negative), rel=1e-6)
    loss.backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[torch.tensor(SHORTLIST) < 0] == 0).all()


@pytest.mark.parametrize("name", LOSSES)
def test_padding_changes_nothing(name: str) -> None:
    loss = LOSSES[name]
    logits, hits, shortlist = torch.tensor(LOGITS), torch.tensor(HITS), torch.tensor(SHORTLIST)
    parts = ((logits, -torch.inf), (hits, 0), (shortlist, -1))
    wide = [torch.nn.functional.pad(part, (0, 3), value=value) for part, value in parts]
    assert float(loss(wide[0], wide[1], wide[2])) == pytest.approx(float(loss(logits, hits, shortlist)))


@pytest.mark.parametrize("name", LOSSES)
def test_all_nodes_need_no_shortlist(name: str) -> None:
    logits, hits = torch.randn(3, 5), (torch.rand(3, 5) > 0.5).float()
    everyone = torch.arange(5).repeat(3, 1)
    loss = LOSSES[name]
    assert float(loss(logits, hits)) == pytest.approx(float(loss(logits, hits, everyone)))

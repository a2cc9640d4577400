from __future__ import annotations

import pytest
import torch

from treetop.neural.averaging import Average
from treetop.neural.settings import OptimConfig


def fed(config: OptimConfig, values: list[float]) -> tuple[Average, torch.Tensor]:
    weight = torch.zeros(2)
    average = Average(config, {"w": weight})
    for value in values:
        weight.fill_(value)
        average.add()
    return average, weight


def test_swa_is_the_mean_and_ema_forgets() -> None:
    swa, _ = fed(OptimConfig(average="swa"), [1.0, 2.0, 6.0])
    assert swa.mean["w"].tolist() == pytest.approx([3.0, 3.0])
    ema, _ = fed(OptimConfig(average="ema", ema_decay=0.5), [4.0, 0.0, 8.0])
    assert ema.mean["w"].tolist() == pytest.approx([5.0, 5.0])


def test_applied_puts_the_average_in_place_for_a_while() -> None:
    average, weight = fed(OptimConfig(average="swa"), [1.0, 3.0])
    with average.applied():
        assert weight.tolist() == [2.0, 2.0]
    assert weight.tolist() == [3.0, 3.0]
    assert average.mean["w"].tolist() == [2.0, 2.0]


def test_when_it_is_due() -> None:
    average = Average(OptimConfig(average="swa", average_from=0.5, average_every=2), {})
    assert [step for step in range(1, 11) if average.due(step, 10)] == [6, 8, 10]
    assert not any(Average(OptimConfig(), {}).due(step, 10) for step in range(1, 11))


def test_empty_it_changes_nothing() -> None:
    weight = torch.ones(1)
    Average(OptimConfig(average="swa"), {"w": weight}).apply()
    assert weight.tolist() == [1.0]

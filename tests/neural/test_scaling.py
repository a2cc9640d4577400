from __future__ import annotations

import torch
from torch import nn

from treetop.neural import scaling
from treetop.neural.scaling import FIRST, LossScale


def parameters(gradient: float) -> list[nn.Parameter]:
    dense, rows = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(4, 2))
    dense.grad = torch.full((3,), gradient)
    rows.grad = torch.sparse_coo_tensor(torch.tensor([[1, 3]]), torch.full((2, 2), gradient), (4, 2)).coalesce()
    return [dense, rows, nn.Parameter(torch.zeros(2))]


def test_gradients_are_what_they_would_be_without_it() -> None:
    scale, found = LossScale(wanted=True), parameters(3 * FIRST)
    assert scale.unscale(found)
    assert found[0].grad is not None
    assert found[1].grad is not None
    assert found[0].grad.tolist() == [3.0] * 3
    assert found[1].grad.to_dense().tolist() == [[0, 0], [3, 3], [0, 0], [3, 3]]


def test_a_step_that_overflows_is_left_out_and_the_scale_halved() -> None:
    scale = LossScale(wanted=True)
    for bad in (float("inf"), float("nan")):
        assert not scale.unscale(parameters(bad))
    assert scale.state() == [FIRST / 4, 0.0]
    again = LossScale(wanted=True)
    again.restore(scale.state())
    assert again.value == FIRST / 4


def test_after_many_good_steps_it_grows(monkeypatch: object) -> None:
    scale = LossScale(wanted=True)
    scale.restore([8.0, scaling.GROWS_AFTER - 1.0])
    assert scale.unscale(parameters(1.0))
    assert scale.state() == [16.0, 0.0]


def test_without_need_nothing_is_done() -> None:
    scale, found = LossScale(wanted=False), parameters(float("inf"))
    assert scale.unscale(found)
    assert scale.state() == [1.0, 0.0]

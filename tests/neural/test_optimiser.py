from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from treetop.neural.optimiser import (
    LOGIT_STEP,
    RowAdamW,
    beta1_at,
    clip_gradients,
    group_parameters,
    lr_factor,
    pace_heads,
)
from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import OptimConfig

OPTIONS = {"lr": 0.05, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.1}


def rows_gradient(parameter: torch.Tensor, rows: list[int], seed: int) -> torch.Tensor:
    values = torch.randn(len(rows), *parameter.shape[1:], generator=torch.Generator().manual_seed(seed))
    return torch.sparse_coo_tensor(torch.tensor([rows]), values, parameter.shape)


@pytest.mark.parametrize("shape", [(9, 4), (9,)])
def test_rows_with_a_gradient_at_every_step_move_as_under_adamw(shape: tuple[int, ...]) -> None:
    start = torch.randn(shape)
    by_rows, dense = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    ours, theirs = RowAdamW([{"params": [by_rows], **OPTIONS}]), torch.optim.AdamW([dense], **OPTIONS)  # type: ignore[arg-type]
    always = [1, 4, 8]
    for step in range(12):
        gradient = rows_gradient(start, [*always, 2] if step % 3 == 0 else always, step)
        by_rows.grad, dense.grad = gradient, gradient.to_dense()
        ours.step()
        theirs.step()
    torch.testing.assert_close(by_rows[always], dense[always])


def test_absent_rows_only_owe_their_decay() -> None:
    start = torch.randn(6, 3)
    parameter = nn.Parameter(start.clone())
    optimiser = RowAdamW([{"params": [parameter], **OPTIONS}])
    for step in range(10):
        parameter.grad = rows_gradient(start, [0], step)
        optimiser.step()
    torch.testing.assert_close(parameter[1:], start[1:])
    optimiser.settle()
    torch.testing.assert_close(parameter[1:], start[1:] * (1 - 0.05 * 0.1) ** 10)
    settled = parameter.detach().clone()
    optimiser.settle()
    assert torch.equal(parameter, settled)


def test_a_late_row_starts_as_if_it_were_the_first_step() -> None:
    parameter = nn.Parameter(torch.zeros(2, 3))
    optimiser = RowAdamW([{"params": [parameter], **OPTIONS, "weight_decay": 0.0}])
    for step in range(50):
        parameter.grad = rows_gradient(parameter, [0] if step < 49 else [0, 1], step)
        optimiser.step()
    torch.testing.assert_close(parameter[1].abs(), torch.full((3,), 0.05))  # |first step of Adam| = lr


def test_dense_gradients_work_too() -> None:
    start = torch.randn(5, 3)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    pair = RowAdamW([{"params": [ours], **OPTIONS}]), torch.optim.AdamW([theirs], **OPTIONS)  # type: ignore[arg-type]
    for _ in range(5):
        ours.grad = theirs.grad = torch.randn(5, 3)
        for optimiser in pair:
            optimiser.step()
    torch.testing.assert_close(ours, theirs)


def test_one_second_moment_per_row_takes_less_memory_and_still_learns() -> None:
    parameter = nn.Parameter(torch.randn(7, 5))
    optimiser = RowAdamW([{"params": [parameter], "lr": 0.1}], second_moment="row")
    for _ in range(200):
        parameter.grad = torch.sparse_coo_tensor(torch.tensor([[2, 3]]), parameter.detach()[[2, 3]], parameter.shape)
        optimiser.step()
    assert optimiser.state[parameter]["square"].shape == (7, 1)
    assert parameter[[2, 3]].abs().max() < 0.1


def test_schedules() -> None:
    def course(**options: object) -> list[float]:
        return [lr_factor(OptimConfig(**options), step, 100) for step in range(100)]  # type: ignore[arg-type]

    linear = course(schedule="linear", warmup=10)
    assert linear[9] < linear[10] == 1.0
    assert linear[55] == pytest.approx(0.5)
    assert linear[-1] == pytest.approx(1 / 90)
    assert course(schedule="constant", warmup=0.0) == [1.0] * 100
    assert course(schedule="cosine", warmup=0.0)[50] == pytest.approx(0.5)
    cycle = course(schedule="one_cycle", warmup=0.1, cool_down=0.2)
    assert cycle[0] == pytest.approx(0.1)
    assert cycle[10:80] == [1.0] * 70
    assert cycle[-1] == pytest.approx(0.001)
    assert all(a >= b for a, b in itertools.pairwise(cycle[10:]))
    cycled = OptimConfig(schedule="one_cycle", cycle_beta1=True, warmup=0.1)
    assert beta1_at(cycled, 0, 100) == pytest.approx(0.95)
    assert beta1_at(cycled, 50, 100) == pytest.approx(0.85)
    assert beta1_at(cycled, 99, 100) == pytest.approx(0.95)
    assert beta1_at(OptimConfig(), 50, 100) == 0.9
    assert all(math.isfinite(f) for f in course(schedule="one_cycle", warmup=500, cool_down=0.0))


def test_groups_by_part_decay_and_rows() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3))
            self.join = nn.Linear(3, 3)
            self.scorer = NodeScorer(5, 3)
            self.coarse = NodeScorer(2, 3, by_rows=False)

    net = Net()
    net.join.bias.requires_grad_(False)
    config = OptimConfig(lr=1e-4, head_lr_factor=10.0, weight_decay=0.05, head_weight_decay=0.005)
    groups = {frozenset(g.parameters): (g.lr, g.decay, g.rows) for g in group_parameters(net, net.encoder, config)}
    assert groups == {
        frozenset({"encoder.0.weight"}): (1e-4, 0.05, False),
        frozenset({"encoder.0.bias", "encoder.1.weight", "encoder.1.bias"}): (1e-4, 0.0, False),
        frozenset({"join.weight", "coarse.weight"}): (pytest.approx(1e-3), 0.005, False),
        frozenset({"coarse.bias"}): (pytest.approx(1e-3), 0.0, False),
        frozenset({"scorer.weight"}): (pytest.approx(1e-3), 0.005, True),
        frozenset({"scorer.bias"}): (pytest.approx(1e-3), 0.0, True),
    }


def test_heads_learn_the_faster_the_smaller_the_states_are() -> None:
    net = nn.ModuleDict({"coarse": NodeScorer(2, 3, by_rows=False), "fine": NodeScorer(5, 3)})
    open_config = OptimConfig(lr=1e-3, head_lr_factor=0.0)

    def paced(size: float, config: OptimConfig = open_config) -> float:
        states = size * torch.tensor([[1.0, -2.0, 3.0], [0.0, 0.0, -2.0]])  # Σ|h| is 4 on average
        return pace_heads(config, net, lambda: [scorer(states) for scorer in net.values()]).head_lr_factor

    assert paced(1.0) == pytest.approx(LOGIT_STEP / (1e-3 * 4))
    assert paced(10.0) == pytest.approx(LOGIT_STEP / (1e-3 * 40))
    assert paced(1.0, OptimConfig(head_lr_factor=7.0)) == 7.0
    assert paced(0.0) == 1.0  # an encoder that says nothing
    assert not any(scorer._forward_pre_hooks for scorer in net.values())


def test_clipping_counts_sparse_rows() -> None:
    dense, rows = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(4, 1))
    dense.grad = torch.tensor([3.0, 0.0])
    rows.grad = torch.sparse_coo_tensor(torch.tensor([[1, 1]]), torch.tensor([[1.0], [3.0]]), (4, 1))
    norm = clip_gradients([dense, rows], 1.0)
    assert norm is not None
    assert norm.item() == pytest.approx(5.0)
    assert dense.grad.tolist() == pytest.approx([0.6, 0.0])
    assert rows.grad.to_dense()[1].item() == pytest.approx(0.8)
    again = clip_gradients([dense, rows], 2.0)
    assert again is not None
    assert again.item() == pytest.approx(1.0)
    assert dense.grad.tolist() == pytest.approx([0.6, 0.0])  # below the limit nothing is scaled


def test_without_a_limit_no_norm_is_computed() -> None:
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.ones(2)
    with Counted() as counted:  # type: ignore[no-untyped-call]
        assert clip_gradients([parameter], 0.0) is None
    assert counted.calls == 0
    assert clip_gradients([nn.Parameter(torch.zeros(1))], 1.0) is None


class Counted(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """How many operations reach the device: each is a kernel to launch on an accelerator."""

    calls = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("second_moment", ["element", "row"])
@pytest.mark.parametrize(("nodes", "rows"), [(1_000, 300), (670_091, 92_780)])
def test_a_step_on_an_accelerator_takes_as_many_calls_for_any_number_of_labels(
    second_moment: str, nodes: int, rows: int
) -> None:
    weight, bias = nn.Parameter(torch.zeros(nodes, 2)), nn.Parameter(torch.zeros(nodes))
    groups = [{**OPTIONS, "params": [weight]}, {**OPTIONS, "params": [bias], "weight_decay": 0.0}]
    optimiser = RowAdamW(groups, second_moment=second_moment, block=0)
    found = torch.arange(0, rows)[None]
    for _ in range(2):  # the first step makes the moments
        for parameter in (weight, bias):
            values = torch.ones(rows, *parameter.shape[1:])
            parameter.grad = torch.sparse_coo_tensor(found, values, parameter.shape, is_coalesced=True)
        with Counted() as counted:  # type: ignore[no-untyped-call]
            optimiser.step()
    assert counted.calls <= 60


@pytest.mark.parametrize("second_moment", ["element", "row"])
def test_all_rows_at_once_move_as_in_blocks(second_moment: str) -> None:
    start = torch.randn(40, 3)
    ends = []
    for block in (0, 7, None):
        weight, bias = nn.Parameter(start.clone()), nn.Parameter(start[:, 0].clone())
        groups = [{**OPTIONS, "params": [weight]}, {**OPTIONS, "params": [bias], "weight_decay": 0.0}]
        optimiser = RowAdamW(groups, second_moment=second_moment, block=block)
        for step in range(9):
            rows = list(range(step % 3, 40, 2))
            weight.grad = rows_gradient(weight, rows, step)
            bias.grad = rows_gradient(bias, rows, step)
            optimiser.step()
        optimiser.settle()
        ends.append((weight.detach(), bias.detach()))
    for end in ends[1:]:
        for one, other in zip(ends[0], end, strict=True):
            assert torch.equal(one, other)

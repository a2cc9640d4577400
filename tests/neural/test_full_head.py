from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from treetop.neural import full_head
from treetop.neural.full_head import FullHead, RowRMS
from treetop.neural.losses import bce
from treetop.neural.optimiser import clip_gradients, group_parameters
from treetop.neural.settings import Divisor, OptimConfig
from treetop.neural.shortlist import targets

LABELS, WIDTH = 11, 6
TRUE = torch.tensor([[3, 0, 10], [7, -1, -1], [-1, -1, -1], [4, 3, -1]])


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_head, "CHUNK", 4)


def head_and_states() -> tuple[FullHead, Tensor]:
    torch.manual_seed(0)
    head = FullHead(LABELS, WIDTH)
    head.expect(np.linspace(0.1, 0.4, LABELS))
    return head, torch.randn(4, WIDTH, requires_grad=True)


def by_autograd(head: FullHead, states: Tensor, true: Tensor, divide_by: Divisor = "real") -> list[Tensor]:
    """The loss and its gradients for states, weights and biases."""
    loss = bce(states @ head.weight.t() + head.bias, targets(true, None, LABELS), None, divide_by)
    return [loss.detach(), *torch.autograd.grad(loss, [states, head.weight, head.bias])]


@pytest.mark.parametrize("divide_by", ["real", "sum"])
def test_loss_and_gradients_are_those_of_all_logits(divide_by: Divisor) -> None:
    head, states = head_and_states()
    expected = by_autograd(head, states, TRUE, divide_by)
    loss = head(states, TRUE, divide_by)
    loss.backward()
    gradient, kept = head.gradient
    found = [loss.detach(), states.grad, gradient @ kept * head.share, gradient.sum(1) * head.share]
    for value, other in zip(found, expected, strict=True):
        torch.testing.assert_close(value, other)
    assert head.weight.grad is None


def test_a_step_is_what_the_formula_says_and_several_batches_are_one() -> None:
    head, states = head_and_states()
    group = {"params": [head.weight, head.bias], "lr": 0.1, "weight_decay": 0.5, "eps": 1e-3, "betas": (0.9, 0.75)}
    optimiser, squares = RowRMS([group | {"head": head}]), np.zeros((2, LABELS))
    w, b = (p.detach().numpy().copy() for p in (head.weight, head.bias))
    for step in (1, 2):
        _, _, of_weights, of_bias = by_autograd(head, states, TRUE, "sum")
        for rows in ([0, 2, 3], [1]):
            (head(states[rows], TRUE[rows], "sum") * len(rows) / 4).backward()
        optimiser.step()
        optimiser.zero_grad()
        g, gb = of_weights.numpy(), of_bias.numpy()
        squares = 0.75 * squares + 0.25 * np.stack([np.square(g).mean(1), np.square(gb)])
        rate = 0.1 / (np.sqrt(squares / (1 - 0.75**step)) + 1e-3)
        w, b = w * (1 - 0.1 * 0.5) - rate[0][:, None] * g, b - rate[1] * gb
        np.testing.assert_allclose(head.weight.detach().numpy(), w, atol=1e-5)
        np.testing.assert_allclose(head.bias.detach().numpy(), b, atol=1e-5)
    optimiser.step()  # nothing is kept from before
    np.testing.assert_allclose(head.weight.detach().numpy(), w, atol=1e-5)


def test_it_is_clipped_with_all_other_gradients() -> None:
    head, states = head_and_states()
    other = torch.nn.Parameter(torch.zeros(2))
    other.grad = torch.tensor([3.0, 4.0])
    _, _, *gradients = by_autograd(head, states, TRUE)
    head(states, TRUE).backward()
    expected = torch.stack([g.norm() for g in (*gradients, other.grad)]).norm()
    before = head.gradient.of_logits.clone()
    norm = clip_gradients([other, *head.parameters()], 0.5, [head])
    assert norm is not None
    torch.testing.assert_close(norm, expected)
    torch.testing.assert_close(head.gradient.of_logits, before * 0.5 / expected)
    torch.testing.assert_close(other.grad, torch.tensor([3.0, 4.0]) * 0.5 / expected)


def test_it_learns_though_its_states_do_not_and_keeps_nothing_without_gradients() -> None:
    head, states = head_and_states()
    with torch.no_grad():
        head(states, TRUE)
    assert not head.kept
    head(states.detach(), TRUE).backward()
    assert len(head.kept) == 1
    (group,) = group_parameters(head, None, OptimConfig(head_weight_decay=0.25, head_lr_factor=2.0, lr=0.5))
    assert (group.head, group.decay, group.lr, sorted(group.parameters)) == (head, 0.25, 1.0, ["bias", "weight"])
    head.requires_grad_(False)
    assert group_parameters(head, None, OptimConfig()) == []


def test_texts_of_several_processes_are_moved_by_together() -> None:
    whole, states = head_and_states()
    whole(states, TRUE).backward()
    parts = [head_and_states()[0] for _ in range(2)]
    for part, rows in zip(parts, ([0, 1, 3], [2]), strict=True):
        (part(states[rows], TRUE[rows]) * len(rows) / 4).backward()
    sent = [[part.gradient.of_logits.t(), part.gradient.states] for part in parts]
    parts[1].gather(lambda own: torch.cat([sent[0][own.shape[1] == WIDTH], own]))
    found, expected = (head.gradient.of_logits @ head.gradient.states for head in (parts[1], whole))
    torch.testing.assert_close(found, expected)

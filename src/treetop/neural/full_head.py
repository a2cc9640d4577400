"""FullHead: every label is scored at every step, without autograd and without moments as large as the weights.

Some labels at a time, with H the states of the texts (after Renée: Jain et al., MLSys 2023):

    Z = W·Hᵀ + b          G = σ(Z) − Y          dH = Gᵀ·W

G, labels × texts, takes the place of Z and is kept until `RowRMS` moves the weights; their gradient G·H, as large as
they are, never exists. Each label has one squared gradient and no running mean: with g its row of G·H

    v ← β₂·v + (1 − β₂)·|g|²/width          w ← w·(1 − lr·decay) − lr·g / (√(v / (1 − β₂ⁿ)) + eps)

|g|² is a quadratic form in H·Hᵀ (texts × texts), so that a move is one product, made in place: W −= (rate ∘ G)·H.
Beside the weights, labels × width, there are two numbers per label, and one per label and text of the batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from treetop.neural.scorer import Scorer
from treetop.neural.settings import Divisor

__all__ = ["FullHead", "RowRMS"]

CHUNK = 4096
"""Labels at a time on a CPU: what is computed of them stays in the cache. An accelerator is better off with many."""
CHUNK_ON_ACCELERATORS = 1 << 17


class Kept(NamedTuple):
    """What is left of a batch for the weights to move by: their gradient is `of_logits @ states`."""

    of_logits: Tensor
    """Labels × texts."""
    states: Tensor
    """Texts × width."""


class FullHead(Scorer):
    """One weight vector and bias per label; of states and true labels it makes the loss, never all logits at once."""

    bias: nn.Parameter

    def __init__(self, nodes: int, width: int) -> None:
        super().__init__()
        self.nodes = nodes
        self.weight = nn.Parameter(torch.empty(nodes, width))
        self.bias = nn.Parameter(torch.zeros(nodes))
        nn.init.xavier_uniform_(self.weight)
        self.kept: list[Kept] = []
        self.share = (
            1.0  # what one label counts in the loss; gradients are kept without it, so that eps fits any number
        )

    def forward(self, states: Tensor, true: Tensor, divide_by: Divisor = "real") -> Tensor:
        """Binary cross-entropy over all labels; `true` (texts, places) holds the true ones, -1 in empty places."""
        self.share = 1.0 if divide_by == "sum" else 1.0 / self.nodes
        keeps = torch.is_grad_enabled() and self.weight.requires_grad
        with torch.autocast(states.device.type, enabled=False):  # in 16 bits the best labels would all be as good
            loss: Tensor = _Loss.apply(states.float(), self.weight, self, true, keeps)  # type: ignore[no-untyped-call]
        return loss

    def chunks(self) -> Iterator[slice]:
        """The labels, some at a time."""
        size = CHUNK if self.weight.device.type == "cpu" else CHUNK_ON_ACCELERATORS
        return (slice(start, min(start + size, self.nodes)) for start in range(0, self.nodes, size))

    @property
    def gradient(self) -> Kept:
        """Of all batches of a step together."""
        if not self.kept:
            return Kept(self.weight.new_empty(self.nodes, 0), self.weight.new_empty(0, self.weight.shape[1]))
        if len(self.kept) > 1:
            self.kept = [Kept(torch.cat([k.of_logits for k in self.kept], 1), torch.cat([k.states for k in self.kept]))]
        return self.kept[0]

    @torch.no_grad()
    def gather(self, rows_of_all: Callable[[Tensor], Tensor]) -> None:
        """Move by the texts of all processes: what is kept of them is exchanged, not gradients of weights."""
        own = self.gradient
        self.kept = [Kept(rows_of_all(own.of_logits.t().contiguous()).t().contiguous(), rows_of_all(own.states))]

    @torch.no_grad()
    def norm(self) -> Tensor:
        """Of the gradient of weights and biases."""
        g, states = self.gradient
        between = states @ states.t() + 1  # biases are weights of a constant
        return torch.stack([_squares(g[some], between).sum() for some in self.chunks()]).sum().sqrt() * self.share

    def scale(self, factor: Tensor) -> None:
        """Make the gradient so many times as large."""
        self.gradient.of_logits.mul_(factor)

    @torch.no_grad()
    def move(self, state: dict[str, Tensor], group: dict[str, Any]) -> None:
        """One step by what was kept; `state` has the squared gradients of weights and biases."""
        gradient, states = self.gradient
        between, decay = states @ states.t() / states.shape[1], 1 - group["lr"] * group["weight_decay"]
        state["count"] += 1
        for some in self.chunks():
            g = gradient[some]
            of_bias = g.sum(1)
            bias_rate = _rate(state, "bias_square", some, of_bias.square(), group)
            rate = _rate(state, "square", some, _squares(g, between), group)
            self.bias[some].addcmul_(of_bias, bias_rate, value=-1)
            self.weight[some].addmm_(g * rate[:, None], states, beta=decay, alpha=-1)


class RowRMS(torch.optim.Optimizer):
    """Moves `FullHead`s, one in each group under "head"; see the head of this file."""

    def __init__(self, groups: list[dict[str, Any]]) -> None:
        super().__init__(groups, {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move all labels by what the last batches left."""
        del closure
        for group in self.param_groups:
            head: FullHead = group["head"]
            if head.kept:
                head.move(self.state[head.weight] or self._begin(head), group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the last batches."""
        super().zero_grad(set_to_none)
        for group in self.param_groups:
            group["head"].kept.clear()

    def _begin(self, head: FullHead) -> dict[str, Tensor]:
        state: dict[str, Tensor] = self.state[head.weight]
        for name, numbers in (("square", head.nodes), ("bias_square", head.nodes), ("count", 1)):
            state[name] = head.weight.new_zeros(numbers)
        return state


class _Loss(torch.autograd.Function):
    """The loss with its gradient for the states; that for the weights is kept by their head."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, head: FullHead, true: Tensor, keeps: bool) -> Tensor:
        """The mean over the texts; nothing waits for the device."""
        gradient, of_states = states.new_empty(head.nodes, len(states)), torch.zeros_like(states)
        text, total = torch.arange(len(states), device=states.device)[:, None], states.new_zeros(())
        for some in head.chunks():
            logits = torch.addmm(head.bias[some, None], weight[some], states.t(), out=gradient[some])
            inside = ((true >= some.start) & (true < some.stop)).float()
            place = (true.clamp(some.start, some.stop - 1) - some.start) * len(states) + text
            total += functional.softplus(logits).sum() - (logits.view(-1)[place] * inside).sum()
            logits.sigmoid_().view(-1).index_add_(0, place.view(-1), -inside.view(-1))
            of_states.addmm_(logits.t(), weight[some])
        ctx.head, ctx.keeps = head, keeps
        ctx.save_for_backward(states, gradient, of_states)
        return total * (head.share / len(states))

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        """The gradient for the states."""
        states, gradient, of_states = ctx.saved_tensors
        factor = upstream[0] / len(states)
        if ctx.keeps:
            ctx.head.kept.append(Kept(gradient.mul_(factor), states.detach()))
        return of_states * (factor * ctx.head.share), None, None, None, None


def _squares(g: Tensor, between: Tensor) -> Tensor:
    """The length of each label's gradient, squared, from the products of the states with one another."""
    return (g @ between).mul_(g).sum(1).clamp_(min=0)


def _rate(state: dict[str, Tensor], name: str, some: slice, new: Tensor, group: dict[str, Any]) -> Tensor:
    """What the gradients of some labels are multiplied by, once their squares are in the running mean."""
    beta = group["betas"][1]
    square = state[name][some].lerp_(new, 1 - beta)
    known = -torch.expm1(state["count"] * (math.log(beta) if beta else -math.inf))
    rate: Tensor = group["lr"] / ((square / known).sqrt_() + group["eps"])
    return rate

"""What moves the weights: schedules, parameter groups, and AdamW that visits only rows with a gradient.

`RowAdamW` is AdamW (Loshchilov & Hutter, 2019) with a clock per row. A row that gets a gradient at every step moves
exactly as under AdamW. A row that was absent for some steps keeps its moments, corrects their bias by its own number of
updates, and catches up on the weight decay it missed: w ← w · Π(1 − lrₛ·decay) over the missed steps s. Time per step
is proportional to the rows of the batch, so a head of three million labels costs no more than its shortlist.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from treetop.neural.scorer import NodeScorer
from treetop.neural.settings import OptimConfig

__all__ = [
    "Group",
    "RowAdamW",
    "beta1_at",
    "clip_gradients",
    "group_parameters",
    "lr_factor",
    "pace_heads",
]

LOGIT_STEP = 1.0
"""How far a step moves a logit at most, where the learning rate of heads is left open; measured, see experiments."""
BLOCK = 512
"""Rows updated at a time: the working set stays in the cache instead of making copies as large as the gradient."""


def warmup_steps(config: OptimConfig, steps: int) -> int:
    """The warm-up in steps, never longer than the training."""
    return min(steps, round(config.warmup * steps) if config.warmup < 1 else round(config.warmup))


def lr_factor(config: OptimConfig, step: int, steps: int) -> float:
    """The learning rate of step `step` (from 0) of `steps`, as a share of its peak."""
    warm = warmup_steps(config, steps)
    if config.schedule == "one_cycle":
        return _one_cycle(config, step, steps, warm, (0.1, 1.0, 0.001))
    if step < warm:
        return (step + 1) / (warm + 1)
    done = (step - warm) / max(1, steps - warm)
    return {"constant": 1.0, "linear": 1 - done, "cosine": (1 + math.cos(math.pi * done)) / 2}[config.schedule]


def beta1_at(config: OptimConfig, step: int, steps: int) -> float:
    """The decay of the running mean at a step: constant, or cycled against the learning rate."""
    if config.schedule == "one_cycle" and config.cycle_beta1:
        return _one_cycle(config, step, steps, warmup_steps(config, steps), (0.95, 0.85, 0.95))
    return config.beta1


def _one_cycle(config: OptimConfig, step: int, steps: int, warm: int, values: tuple[float, float, float]) -> float:
    """Three phases: a cosine from the first value to the second, flat, a cosine to the third."""
    start, peak, end = values
    cool = min(round(config.cool_down * steps), steps - warm)
    if step < warm:
        return _cosine(start, peak, step / warm)
    if step < steps - cool:
        return peak
    return _cosine(peak, end, (step - (steps - cool) + 1) / cool)


def _cosine(start: float, end: float, done: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * done)) / 2


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that share a learning rate and a decay; `rows` if their gradients cover only some rows."""

    parameters: dict[str, nn.Parameter]
    lr: float
    decay: float
    rows: bool = False


def group_parameters(module: nn.Module, encoder: nn.Module | None, config: OptimConfig) -> list[Group]:
    """The trainable parameters by encoder or head, decayed or not, dense or by rows."""
    inside = {id(p) for p in encoder.parameters()} if encoder is not None else set()
    by_rows = {id(p) for m in module.modules() if isinstance(m, NodeScorer) for p in m.row_parameters()}
    groups: dict[tuple[bool, bool, bool], dict[str, nn.Parameter]] = {}
    for name, parameter in module.named_parameters():
        if parameter.requires_grad:
            key = (id(parameter) in inside, parameter.ndim > 1, id(parameter) in by_rows)
            groups.setdefault(key, {})[name] = parameter
    result = []
    for (of_encoder, matrix, rows), parameters in sorted(groups.items(), reverse=True):
        lr = config.lr * (1.0 if of_encoder else config.head_lr_factor)
        decay = config.weight_decay if of_encoder else config.head_weight_decay
        result.append(Group(parameters, lr, decay if matrix else 0.0, rows))
    return result


def pace_heads(config: OptimConfig, module: nn.Module, read: Callable[[], object]) -> OptimConfig:
    """The same, with the learning rate of heads set if it was left open; `read` lets the module score some texts.

    Under AdamW a step moves the logit <h, w> of a node by up to the learning rate times Σ|h|. So that this is
    `LOGIT_STEP`, scorers of small states learn faster than those of large ones, whatever the encoder.
    """
    if config.head_lr_factor:
        return config
    sizes: list[float] = []
    scorers = [part for part in module.modules() if isinstance(part, NodeScorer)]
    hooks = [
        scorer.register_forward_pre_hook(lambda _, given: sizes.append(float(given[0].detach().abs().sum(1).mean())))
        for scorer in scorers
    ]
    try:
        read()
    finally:
        for hook in hooks:
            hook.remove()
    size = sum(sizes) / len(sizes) if sizes else 0.0
    return replace(config, head_lr_factor=LOGIT_STEP / (config.lr * size) if size else 1.0)


def clip_gradients(parameters: Iterable[nn.Parameter], limit: float) -> float:
    """The norm of the whole gradient; if it is above `limit` (> 0) every gradient is scaled down to meet it."""
    values = []
    for parameter in parameters:
        if parameter.grad is not None:
            if parameter.grad.is_sparse:
                parameter.grad = parameter.grad.coalesce()
            values.append(parameter.grad._values() if parameter.grad.is_sparse else parameter.grad)
    if not values:
        return 0.0
    norm = float(torch.stack([torch.linalg.vector_norm(value) for value in values]).norm())
    if limit and norm > limit:
        for value in values:
            value.mul_(limit / norm)
    return norm


class RowAdamW(torch.optim.Optimizer):
    """AdamW for parameters with one row per node; see the head of this file. Call `settle` before using the weights."""

    def __init__(self, groups: list[dict[str, Any]], *, second_moment: str = "element") -> None:
        super().__init__(groups, {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0})
        self.second_moment = second_moment

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move the rows that have a gradient."""
        del closure
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, group)
                elif parameter in self.state:
                    self.state[parameter]["owed"] += math.log1p(-group["lr"] * group["weight_decay"])

    def _move(self, parameter: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter] or self._begin(parameter)
        state["owed"] += math.log1p(-group["lr"] * group["weight_decay"])
        gradient = parameter.grad
        assert gradient is not None
        if gradient.is_sparse:
            gradient = gradient.coalesce()
            rows, values = gradient._indices()[0], gradient._values()
            for start in range(0, len(rows), BLOCK):
                part = slice(start, start + BLOCK)
                _move_rows(parameter, state, rows[part], values[part], group)
        else:
            _move_rows(parameter, state, slice(None), gradient, group)

    def _begin(self, parameter: Tensor) -> dict[str, Tensor]:
        state = self.state[parameter]
        by_row = (len(parameter),) + (1,) * (parameter.ndim - 1)
        state["mean"] = torch.zeros_like(parameter)
        state["square"] = parameter.new_zeros(by_row if self.second_moment == "row" else parameter.shape)
        state["count"] = torch.zeros(len(parameter), dtype=torch.int32, device=parameter.device)
        state["owed"] = torch.zeros(1, dtype=torch.float64)
        state["paid"] = torch.zeros(len(parameter), dtype=torch.float64, device=parameter.device)
        result: dict[str, Tensor] = state
        return result

    @torch.no_grad()
    def settle(self) -> None:
        """Apply the decay that rows missed while they were absent, so that the weights are what they should be."""
        for parameter, state in self.state.items():
            owed = float(state["owed"])
            if bool((state["paid"] != owed).any()):
                parameter.mul_(_like(torch.exp(owed - state["paid"]), parameter))
                state["paid"].fill_(owed)


def _move_rows(
    parameter: Tensor, state: dict[str, Tensor], rows: Tensor | slice, gradient: Tensor, group: dict[str, Any]
) -> None:
    beta1, beta2 = group["betas"]
    count = state["count"][rows] + 1
    mean = state["mean"][rows].lerp_(gradient, 1 - beta1)
    by_row = state["square"].shape != parameter.shape
    fresh = gradient.square().mean(1, keepdim=True) if by_row else gradient.square()
    square = state["square"][rows].lerp_(fresh, 1 - beta2)
    weight = parameter[rows]
    owed = float(state["owed"])
    if owed:
        weight.mul_(_like(torch.exp(owed - state["paid"][rows]), weight))
        state["paid"][rows] = owed
    scale = _like(group["lr"] / (1 - torch.pow(beta1, count.double())), weight)
    spread = (square / _like(1 - torch.pow(beta2, count.double()), square)).sqrt_().add_(group["eps"])
    parameter[rows] = weight.sub_(mean / spread * scale)
    state["mean"][rows], state["square"][rows], state["count"][rows] = mean, square, count


def _like(by_row: Tensor, matrix: Tensor) -> Tensor:
    """A value per row, shaped to multiply a matrix of those rows (or a vector)."""
    return by_row.to(matrix.dtype).reshape(-1, *[1] * (matrix.ndim - 1))

"""What moves the weights: schedules, parameter groups, and AdamW that visits only rows with a gradient.

`RowAdamW` is AdamW (Loshchilov & Hutter, 2019) with a clock per row. A row that gets a gradient at every step moves
exactly as under AdamW. A row that was absent for some steps keeps its moments, corrects their bias by its own number of
updates, and catches up on the weight decay it missed: w ← w · Π(1 − lrₛ·decay) over the missed steps s. Time per step
is proportional to the rows of the batch, so a head of three million labels costs no more than its shortlist.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from treetop.neural.full_head import FullHead
from treetop.neural.scorer import NodeScorer, Scorer
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
"""Rows updated at a time on a CPU: the working set stays in the cache instead of making copies as large as the
gradient. An accelerator takes all rows at once, and all parameters: there every call costs more than the work in it."""


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
    """Parameters that share a learning rate and a decay; `rows` if their gradients cover only some rows.

    Those of a `head` that scores all labels have no gradients: it keeps what they are moved by.
    """

    parameters: dict[str, nn.Parameter]
    lr: float
    decay: float
    rows: bool = False
    head: FullHead | None = None


def group_parameters(module: nn.Module, encoder: nn.Module | None, config: OptimConfig) -> list[Group]:
    """The trainable parameters by encoder or head, decayed or not, dense or by rows."""
    inside = {id(p) for p in encoder.parameters()} if encoder is not None else set()
    by_rows = {id(p) for m in module.modules() if isinstance(m, NodeScorer) for p in m.row_parameters()}
    heads = {id(p): m for m in module.modules() if isinstance(m, FullHead) for p in m.parameters()}
    groups: dict[tuple[bool, bool, bool], dict[str, nn.Parameter]] = {}
    of_heads: dict[FullHead, dict[str, nn.Parameter]] = {}
    for name, parameter in module.named_parameters():
        if id(parameter) in heads and parameter.requires_grad:
            of_heads.setdefault(heads[id(parameter)], {})[name] = parameter
        elif parameter.requires_grad:
            key = (id(parameter) in inside, parameter.ndim > 1, id(parameter) in by_rows)
            groups.setdefault(key, {})[name] = parameter
    result = []
    for (of_encoder, matrix, rows), parameters in sorted(groups.items(), reverse=True):
        lr = config.lr * (1.0 if of_encoder else config.head_lr_factor)
        decay = config.weight_decay if of_encoder else config.head_weight_decay
        result.append(Group(parameters, lr, decay if matrix else 0.0, rows))
    lr, decay = config.lr * config.head_lr_factor, config.head_weight_decay
    return [*result, *(Group(parameters, lr, decay, head=head) for head, parameters in of_heads.items())]


def pace_heads(config: OptimConfig, module: nn.Module, read: Callable[[], object]) -> OptimConfig:
    """The same, with the learning rate of heads set if it was left open; `read` lets the module score some texts.

    Under AdamW a step moves the logit <h, w> of a node by up to the learning rate times Σ|h|. So that this is
    `LOGIT_STEP`, scorers of small states learn faster than those of large ones, whatever the encoder.
    """
    if config.head_lr_factor:
        return config
    sizes: list[float] = []
    scorers = [part for part in module.modules() if isinstance(part, Scorer)]
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


def clip_gradients(
    parameters: Iterable[nn.Parameter],
    limit: float,
    heads: Sequence[FullHead] = (),
    *,
    divided: Iterable[nn.Parameter] = (),
    add_up: Callable[[Tensor], Tensor] = lambda own: own,
) -> Tensor | None:
    """The norm of the whole gradient; if it is above `limit` every gradient is scaled down to meet it.

    Without a limit nothing is computed. Nothing waits for the device: the norm is a tensor, and so is the scale. Of
    `divided` parameters every process has other rows, whose squares they `add_up`.
    """
    if not limit:
        return None
    values, of_divided = ([_numbers(p) for p in some if p.grad is not None] for some in (parameters, divided))
    norms = [torch.linalg.vector_norm(value) for value in values] + [head.norm() for head in heads]
    if of_divided:
        own = torch.stack([torch.linalg.vector_norm(value) for value in of_divided])
        norms.append(add_up(own.square().sum()).sqrt())
    if not norms:
        return None
    norm: Tensor = torch.stack(norms).norm()
    scale = (limit / norm).clamp(max=1.0)
    for value in values + of_divided:
        value.mul_(scale)
    for head in heads:
        head.scale(scale)
    return norm


def _numbers(parameter: nn.Parameter) -> Tensor:
    """The numbers of its gradient; of rows only, those of the rows, each row once."""
    gradient = parameter.grad
    assert gradient is not None
    if not gradient.is_sparse:
        return gradient
    parameter.grad = gradient.coalesce()
    return parameter.grad._values()


@dataclass(frozen=True, slots=True)
class Move:
    """Some rows of a parameter, what is kept for them, and their gradient."""

    parameter: Tensor
    state: dict[str, Tensor]
    rows: Tensor | slice
    gradient: Tensor
    group: dict[str, Any]

    def blocks(self, size: int) -> Iterator[Move]:
        """The same in parts of so many rows."""
        if isinstance(self.rows, slice) or len(self.rows) <= size:
            yield self
            return
        for start in range(0, len(self.rows), size):
            part = slice(start, start + size)
            yield replace(self, rows=self.rows[part], gradient=self.gradient[part])


class RowAdamW(torch.optim.Optimizer):
    """AdamW for parameters with one row per node; see the head of this file. Call `settle` before using the weights.

    `block` rows are moved at a time, 0 means all, and all parameters with them; None is what suits the device.
    """

    def __init__(
        self, groups: list[dict[str, Any]], *, second_moment: str = "element", block: int | None = None
    ) -> None:
        super().__init__(groups, {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0})
        self.second_moment = second_moment
        self.block = block

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move the rows that have a gradient."""
        del closure
        together: dict[Any, list[Move]] = {}
        for group in self.param_groups:
            for parameter in group["params"]:
                for move in self._owing(parameter, group):
                    together.setdefault((parameter.device, group["betas"], group["eps"]), []).append(move)
        for (device, *_), moves in together.items():
            block = self.block if self.block is not None else BLOCK if device.type == "cpu" else 0
            for several in [[part] for move in moves for part in move.blocks(block)] if block else [moves]:
                _move_rows(several)

    def _owing(self, parameter: Tensor, group: dict[str, Any]) -> Iterator[Move]:
        """Note the decay of a step, and what there is to move if the parameter has a gradient."""
        gradient = parameter.grad
        if gradient is None and parameter not in self.state:
            return
        state = self.state[parameter] or self._begin(parameter)
        state["owed"] += math.log1p(-group["lr"] * group["weight_decay"])
        if gradient is None:
            return
        if not gradient.is_sparse:
            yield Move(parameter, state, slice(None), gradient, group)
            return
        gradient = gradient if gradient.is_coalesced() else gradient.coalesce()
        yield Move(parameter, state, gradient._indices()[0], gradient._values(), group)

    def _begin(self, parameter: Tensor) -> dict[str, Tensor]:
        state = self.state[parameter]
        by_row = (len(parameter),) + (1,) * (parameter.ndim - 1)
        state["mean"] = torch.zeros_like(parameter)
        state["square"] = parameter.new_zeros(by_row if self.second_moment == "row" else parameter.shape)
        state["count"] = parameter.new_zeros(by_row)
        state["owed"] = torch.zeros(1, dtype=torch.float64)
        state["paid"] = parameter.new_zeros(by_row)
        result: dict[str, Tensor] = state
        return result

    @torch.no_grad()
    def settle(self) -> None:
        """Apply the decay that rows missed while they were absent, so that the weights are what they should be."""
        for parameter, state in self.state.items():
            owed = float(state["owed"])
            if owed:
                parameter.mul_(torch.exp(owed - state["paid"]))
                state["paid"].fill_(owed)


def _move_rows(moves: list[Move]) -> None:
    """One step of AdamW for some rows of several parameters that share betas and eps, in as few calls as it takes.

    m ← β₁m + (1 − β₁)g;   v ← β₂v + (1 − β₂)g²;   w ← w·decay − lr · m / (1 − β₁ⁿ) / (√(v / (1 − β₂ⁿ)) + eps)

    with n the updates of the row. 1 − βⁿ is −expm1(n·log β), which is exact in 32 bits also for β near 1 and n = 1.
    """
    (beta1, beta2), eps = moves[0].group["betas"], moves[0].group["eps"]
    counts, means, squares = ([move.state[name][move.rows] for move in moves] for name in ("count", "mean", "square"))
    weights = [move.parameter[move.rows] for move in moves]
    torch._foreach_add_(counts, 1)
    torch._foreach_lerp_(means, [move.gradient for move in moves], 1 - beta1)
    torch._foreach_lerp_(squares, [_squared(move) for move in moves], 1 - beta2)
    for move, weight in zip(moves, weights, strict=True):
        _pay(move, weight)
    spread = torch._foreach_mul(counts, _log(beta2))
    torch._foreach_expm1_(spread)
    torch._foreach_neg_(spread)
    spread = torch._foreach_div(squares, spread)
    torch._foreach_sqrt_(spread)
    torch._foreach_add_(spread, eps)
    rate = torch._foreach_mul(counts, _log(beta1))
    torch._foreach_expm1_(rate)
    rate = torch._foreach_div(means, rate)
    torch._foreach_div_(rate, spread)
    torch._foreach_mul_(rate, [move.group["lr"] for move in moves])
    torch._foreach_add_(weights, rate)
    for place, move in enumerate(moves):
        move.parameter[move.rows] = weights[place]
        for name, values in (("count", counts), ("mean", means), ("square", squares)):
            move.state[name][move.rows] = values[place]


def _squared(move: Move) -> Tensor:
    square = move.gradient.square()
    return square if move.state["square"].shape == move.parameter.shape else square.mean(1, keepdim=True)


def _pay(move: Move, weight: Tensor) -> None:
    """The decay of this step, and of those in which the rows were absent."""
    owed = float(move.state["owed"])
    if owed:
        weight.mul_(torch.exp(owed - move.state["paid"][move.rows]))
        move.state["paid"][move.rows] = owed


def _log(beta: float) -> float:
    return math.log(beta) if beta else -math.inf

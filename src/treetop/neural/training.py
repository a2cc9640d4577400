"""fine_tune: the one training loop, for every network of every method.

Precision, accumulation, clipping, schedule, averaging, several processes, dev score, checkpoints, resume, progress and
the log are here and nowhere else. A network brings two things: the loss of a batch, and its groups of parameters.

A step is a function of (weights, optimiser, seed, number of the step): its texts, its dropout and its learning rate all
follow from the seed and the number. That is what makes a run that was killed and resumed end with the same weights.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from treetop.config import to_dict
from treetop.errors import ConfigError
from treetop.neural.averaging import Average
from treetop.neural.checkpoint import UNESSENTIAL, Checkpoints, optimiser_state, restore_optimiser
from treetop.neural.division import divide
from treetop.neural.dropout import CentredDropout
from treetop.neural.examples import Batch, Examples
from treetop.neural.feed import Feed
from treetop.neural.full_head import RowRMS
from treetop.neural.optimiser import Group, RowAdamW, beta1_at, clip_gradients, lr_factor, pace_heads
from treetop.neural.parallel import World, world_of
from treetop.neural.scaling import LossScale
from treetop.neural.settings import OptimConfig
from treetop.runtime import Runtime
from treetop.store import Late
from treetop.text.precision import autocast
from treetop.text.threads import threads

__all__ = ["Trainable", "TrainingLog", "Watch", "fine_tune"]


class Trainable(Protocol):
    """What the loop needs of a network, besides being an `nn.Module`."""

    def loss(self, batch: Batch) -> Tensor:
        """The loss of a batch: a mean over its texts."""

    def parameter_groups(self, config: OptimConfig) -> list[Group]:
        """What learns, and how fast."""


Watch: TypeAlias = Callable[[], float]
"""The dev score of the network as it is now; greater is better."""


@dataclass(slots=True)
class TrainingLog:
    """What happened: a record per logged step, and the dev scores."""

    records: list[dict[str, Any]] = field(default_factory=list)
    """`step`, `loss` (mean since the last record), `lr` of the encoder, `head_lr` of all else, `norm` of the gradient,
    `speed` (texts per second) and `cpu_seconds` so far; or `step` and dev `score`."""
    steps: int = 0
    """Optimiser steps that were taken."""
    best_score: float | None = None
    """The best dev score, whose weights were kept."""
    best_step: int = 0
    """The step after which it was reached."""
    seconds: float = 0.0
    """Wall time, resumed parts included."""
    cpu_seconds: float = 0.0
    """Time of all threads of this process, resumed parts included."""


def fine_tune(
    module: Trainable,
    examples: Examples,
    config: OptimConfig,
    runtime: Runtime,
    *,
    watch: Watch | None = None,
    checkpoint: str | PathLike[str] | None = None,
    title: str = "fine-tune",
) -> TrainingLog:
    """Train the network in place and leave it in evaluation mode.

    With `watch`, training keeps the weights with the best dev score and, if `config.patience` says so, stops early.
    With `checkpoint`, a run that was interrupted continues from there, and ends as if it had not been. `title` is what
    the stage is called while it runs.
    """
    with threads(runtime), torch.random.fork_rng(devices=_own_device(runtime)):
        run = _Run(module, examples, config, runtime, world_of(runtime), Checkpoints(checkpoint))
        run.resume()
        with runtime.bar(title, run.steps, run.step) as advance, run.feed:
            while not run.finished:
                run.take_step()
                if watch is not None and run.validation_is_due():
                    run.validate(watch)
                run.keep()
                advance(1, note=run.note)
        run.finish()
    return run.log


class _Run:
    """One training run: the state of the loop, and what is done to it."""

    def __init__(
        self,
        module: Trainable,
        examples: Examples,
        config: OptimConfig,
        runtime: Runtime,
        world: World,
        checkpoints: Checkpoints,
    ) -> None:
        self.network, self.module = module, cast(nn.Module, module)
        self.examples, self.config, self.runtime = examples, config, runtime
        self.world, self.checkpoints = world, checkpoints
        world.share_weights(self.module)
        self.shapes = {p: list(p.shape) for p in self.module.parameters()}
        self.divided = divide(self.module, world, wanted=config.heads == "divided")
        self.module.to(runtime.device)
        self.paced = self._paced()
        groups = module.parameter_groups(self.paced)
        self.parameters = {name: p for group in groups for name, p in group.parameters.items()}
        self.whole = [p for name, p in self.parameters.items() if name not in self.divided.parameters]
        self.heads = [group.head for group in groups if group.head is not None]
        self.centres = {n: m.centre for n, m in self.module.named_modules() if isinstance(m, CentredDropout)}
        self.optimisers = _optimisers(groups, config)
        self.per_step = config.batch_size * config.accumulate
        self.scale = LossScale(runtime.precision == "float16")
        self.feed = Feed(self._batches, runtime.device)
        self.per_epoch = examples.steps_per_epoch(self.per_step)
        self.steps = config.steps or config.epochs * self.per_epoch
        if world.size > 1:
            world.check_same({**self._settings(), "data": examples.digest()})
        self.average = Average(config, self.parameters)
        self.best: dict[str, Tensor] = {}
        self.log = TrainingLog()
        self.step = self.waited = 0
        self.stopped = self.done = False
        self.note = ""
        self._losses: list[float] = []
        self._order: tuple[int, list[NDArray[np.int64]]] = (-1, [])
        self._began, self._began_cpu, self._began_step = time.perf_counter(), time.process_time(), 0
        self._computing = autocast(runtime)
        self._kept = time.monotonic()

    def _paced(self) -> OptimConfig:
        """The configuration, with the learning rate of heads set by a look at some texts if it was left open."""
        paced = pace_heads(self.config, self.module, self._score_some)
        return replace(paced, head_lr_factor=self.world.agree(paced.head_lr_factor))

    @torch.no_grad()
    def _score_some(self) -> None:
        self.module.eval()
        rows = self.examples.order(0, self.config.batch_size, self.runtime.seed)[0]
        self.network.loss(self.examples.batch(rows).to(self.runtime.device))

    @property
    def finished(self) -> bool:
        """Whether no step is left to take."""
        return self.stopped or self.done or self.step >= self.steps

    # ── one step ────────────────────────────────────────────────────────────────────────────────────────────────────

    def take_step(self) -> None:
        """One move of the weights."""
        factor = self._set_rates()
        seed = np.random.SeedSequence([self.runtime.seed, 2, self.step, self.world.rank]).generate_state(1)[0]
        torch.manual_seed(int(seed))
        self.module.train()
        shares = [self._backward(batch, share) for batch, share in self.feed.step(self.step)]
        self.world.sum_gradients(self.whole, self.heads)
        norm = self._move()
        # Only now is the device waited for: all that a step takes was handed to it before.
        loss = self.world.total(float(torch.stack(shares).sum()) if shares else 0.0, self.step)
        if not math.isfinite(loss):
            raise ConfigError(
                f"the loss is {loss} at step {self.step + 1}; lower lr (now {self.config.lr}) or set clip"
            )
        self.step += 1
        if self.average.due(self.step, self.steps):
            self._settle()
            self.average.add()
        self._record(loss, factor, norm)

    def _move(self) -> Tensor | None:
        """Let the optimisers move the weights; the norm of the gradient, where it was needed."""
        norm = None
        if self.scale.unscale(self.parameters.values(), self.heads, self._agree):
            divided, add_up = self.divided.parameters.values(), self.world.summed
            norm = clip_gradients(self.whole, self.config.clip, self.heads, divided=divided, add_up=add_up)
            for optimiser in self.optimisers:
                optimiser.step()
        for optimiser in self.optimisers:
            optimiser.zero_grad(set_to_none=True)
        return norm

    def _agree(self, finite: bool) -> bool:
        """Whether the gradients of all processes are finite; of whole heads all have the same."""
        return finite if not self.divided else not self.world.total(float(not finite), self.step)

    def _batches(self, step: int) -> list[tuple[Batch, float]]:
        """What this process reads for a step, part by part, each with its share of the step's texts."""
        rows, limit = self._rows(step), self._limit(step)
        own, size = self.world.share(rows), self.config.batch_size
        parts = [own[start : start + size] for start in range(0, len(own), size)]
        batches = [(self.examples.batch(part, limit), len(part) / len(rows)) for part in parts]
        if self.divided:  # all take part in scoring the texts of each other, also who has none left
            most = -(-len(rows) // self.world.size)
            batches += [(self.examples.batch(rows[:1], limit), 0.0)] * (-(-most // size) - len(parts))
        return batches

    def _rows(self, step: int) -> NDArray[np.int64]:
        epoch, index = divmod(step, self.per_epoch)
        if self._order[0] != epoch:
            self._order = (epoch, self.examples.order(epoch, self.per_step, self.runtime.seed))
        return self._order[1][index]

    def _backward(self, batch: Batch, share: float) -> Tensor:
        """Add the gradient of some texts, weighted by their share of the step; the share of the loss."""
        with self._computing:
            loss = self.network.loss(batch) * share
        (loss * self.scale.value).backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def _limit(self, step: int) -> int | None:
        lengths = self.config.progressive
        return lengths[min(len(lengths) - 1, step * len(lengths) // self.steps)] if lengths else None

    def _set_rates(self) -> float:
        factor = lr_factor(self.config, self.step, self.steps)
        betas = (beta1_at(self.config, self.step, self.steps), self.config.beta2)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"], group["betas"] = group["peak"] * factor, betas
        return factor

    def _settle(self) -> None:
        for optimiser in self.optimisers:
            if isinstance(optimiser, RowAdamW):
                optimiser.settle()

    def _record(self, loss: float, factor: float, norm: Tensor | None) -> None:
        self._losses.append(loss)
        seconds = time.perf_counter() - self._began
        speed = (self.step - self._began_step) * self.per_step / max(seconds, 1e-9)
        self.note = f"loss {loss:.4g} · {speed:.0f} texts/s"
        self.log.steps = self.step
        if self.step % self.config.log_every == 0 or self.step == self.steps:
            mean = sum(self._losses) / len(self._losses)
            lr = self.config.lr * factor
            rates = {"lr": lr, "head_lr": lr * self.paced.head_lr_factor}
            spent = {"speed": speed, "cpu_seconds": self._spent()[1]}
            self._write({"step": self.step, "loss": mean, **rates, **_norm(norm), **spent})
            self._losses = []

    def _write(self, record: dict[str, Any]) -> None:
        self.log.records.append(record)
        if self.world.is_leader:
            self.checkpoints.log(record)

    # ── dev score ───────────────────────────────────────────────────────────────────────────────────────────────────

    def validation_is_due(self) -> bool:
        """Whether the dev score is due after this step."""
        return self.step % (self.config.watch_every or self.per_epoch) == 0 or self.step == self.steps

    def validate(self, watch: Watch) -> None:
        """Take the dev score of the weights (of their average, once there is one) and keep them if it is the best."""
        self._settle()
        self.module.eval()
        with self.average.applied(), self.divided.joined(), torch.no_grad():
            score = self.world.agree(watch() if self.world.is_leader else 0.0)
            better = self.log.best_score is None or score > self.log.best_score
            if better:
                self.best = {name: p.detach().clone() for name, p in self.parameters.items()}
        self._write({"step": self.step, "score": score})
        if better:
            self.log.best_score, self.log.best_step, self.waited = score, self.step, 0
        else:
            self.waited += 1
            self.stopped = 0 < self.config.patience <= self.waited

    # ── checkpoints ─────────────────────────────────────────────────────────────────────────────────────────────────

    def keep(self) -> None:
        """Write a checkpoint if one is due, by the clock or by the number of steps."""
        if self.finished or self.checkpoints.folder is None or not (self.world.is_leader or self.divided):
            return
        every, minutes = self.config.checkpoint_every, self.config.checkpoint_minutes
        by_clock = minutes > 0 and time.monotonic() - self._kept >= 60 * minutes
        due = by_clock or (every > 0 and self.step % every == 0)
        if self.world.agree(due) if self.divided else due:
            self._write_checkpoint(self._tensors())
            self._kept = time.monotonic()

    def _write_checkpoint(self, tensors: Mapping[str, Tensor | Late]) -> None:
        """The leading process writes, and is handed the rows of the others one tensor after the other."""
        if self.checkpoints.folder is None:
            return
        if self.world.is_leader:
            self.checkpoints.write(self.step, self._state(), tensors)
            return
        for tensor in tensors.values():
            if isinstance(tensor, Late):
                tensor.make()

    def finish(self) -> None:
        """Put the final weights in place: the best, or the average, or the last."""
        if not self.done:
            self._settle()
            if self.best:
                _copy(self.best, self.parameters)
            else:
                self.average.apply()
            self.log.seconds, self.log.cpu_seconds = self._spent()
            self.done = True
            self._write_checkpoint({f"weights/{n}": self.divided.late(n, p) for n, p in self.parameters.items()})
        self.divided.join()
        self.checkpoints.close()
        self.world.wait()
        self.module.eval()

    def resume(self) -> None:
        """Continue from the newest checkpoint, if there is one."""
        found = self.checkpoints.newest(lambda name, rows: self.divided.own(_parameter(name), rows))
        if found is None:
            self._rewind_log()
            return
        with self.checkpoints.understood():
            self._continue_from(*found)
        self._began_step = self.step
        self._rewind_log()

    def _continue_from(self, state: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.checkpoints.check_same(state.get("settings", {}), self._settings())
        _copy(_part(tensors, "weights/"), self.parameters)
        for optimiser in self.optimisers:
            restore_optimiser(optimiser, self.parameters, _part(tensors, "optimiser/"))
        for name, centre in _part(tensors, "centre/").items():
            self.centres[name].copy_(centre)
        device = self.runtime.device
        self.average.mean = {k: v.to(device) for k, v in _part(tensors, "average/").items()}
        self.best = {k: v.to(device) for k, v in _part(tensors, "best/").items()}
        self.average.count, self.waited = int(state["averaged"]), int(state["waited"])
        self._losses = list(map(float, state["losses"]))
        self.step, self.done, self.stopped = int(state["step"]), bool(state["done"]), bool(state["stopped"])
        if "scale" in state:
            self.scale.restore(state["scale"])
        self.log = TrainingLog(**state["log"])
        if not all(isinstance(record, dict) and "step" in record for record in self.log.records):
            raise ValueError("a record without its step")

    def _rewind_log(self) -> None:
        """Forget what was written after the checkpoint that the run continues from."""
        if self.world.is_leader:
            self.checkpoints.rewind_log(self.log.records)

    def _settings(self) -> dict[str, Any]:
        """What must not differ between the parts of a run."""
        settings = {k: v for k, v in to_dict(self.config).items() if k not in UNESSENTIAL}
        shapes = [[name, *self.shapes[p]] for name, p in self.parameters.items()]
        run = {"seed": self.runtime.seed, "texts": len(self.examples), "texts per step": self.per_step}
        return {**settings, **run, "parameters": shapes}

    def _state(self) -> dict[str, Any]:
        log = to_dict(self.log)
        if not self.done:
            log["seconds"], log["cpu_seconds"] = self._spent()
        return {
            "settings": self._settings(), "step": self.step, "waited": self.waited, "averaged": self.average.count,
            "losses": self._losses, "stopped": self.stopped, "done": self.done, "log": log,
            "scale": self.scale.state(),
        }  # fmt: skip

    def _spent(self) -> tuple[float, float]:
        """Wall and CPU-seconds, those before an interruption included."""
        wall, cpu = time.perf_counter() - self._began, time.process_time() - self._began_cpu
        return self.log.seconds + wall, self.log.cpu_seconds + cpu

    def _tensors(self) -> dict[str, Tensor | Late]:
        names = {cast(Tensor, p): name for name, p in self.parameters.items()}
        moments = {k: v for optimiser in self.optimisers for k, v in optimiser_state(optimiser, names).items()}
        parts: dict[str, Mapping[str, Tensor]] = {
            "weights": self.parameters, "optimiser": moments, "average": self.average.mean, "best": self.best,
            "centre": self.centres,
        }  # fmt: skip
        named = {f"{part}/{name}": tensor for part, tensors in parts.items() for name, tensor in tensors.items()}
        return {name: self.divided.late(_parameter(name), tensor) for name, tensor in named.items()}


def _parameter(name: str) -> str:
    """The parameter that a tensor of a checkpoint is of: of "optimiser/scorer.weight|mean" it is scorer.weight."""
    return name.partition("/")[2].partition("|")[0]


def _own_device(runtime: Runtime) -> list[str]:
    """The GPU whose random numbers are used, so that others are not woken."""
    return [runtime.device] if runtime.device.startswith("cuda") else []


def _norm(norm: Tensor | None) -> dict[str, float]:
    """The norm of the gradient, where it was needed for clipping."""
    return {} if norm is None else {"norm": float(norm)}


def _optimisers(groups: list[Group], config: OptimConfig) -> list[torch.optim.Optimizer]:
    """AdamW for whole parameters, RowAdamW for those whose gradients cover only some rows, RowRMS for full heads."""
    heads = [_options(g, config) | {"head": g.head} for g in groups if g.head is not None]
    dense, rows = ([_options(g, config) for g in groups if g.head is None and g.rows is kind] for kind in (False, True))
    result: list[torch.optim.Optimizer] = [torch.optim.AdamW(dense, fused=True)] if dense else []
    result += [RowAdamW(rows, second_moment=config.second_moment)] if rows else []
    return [*result, RowRMS(heads)] if heads else result


def _options(group: Group, config: OptimConfig) -> dict[str, Any]:
    rates = {"lr": group.lr, "peak": group.lr, "weight_decay": group.decay, "eps": config.eps}
    return {"params": list(group.parameters.values()), **rates}


@torch.no_grad()
def _copy(source: dict[str, Tensor], parameters: dict[str, nn.Parameter]) -> None:
    for name, value in source.items():
        parameters[name].copy_(value)


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}

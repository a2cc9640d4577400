"""The settings of neural learning, apart from what carries them out: a model that predicts has them, and no torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from treetop.errors import ConfigError

__all__ = ["Divisor", "OptimConfig", "check_watched"]

Divisor: TypeAlias = Literal["real", "width", "sum"]
"""What the loss of a text is divided by: its shortlist, all places of the batch, or nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OptimConfig:
    """How a network is fine-tuned. Steps are optimiser steps."""

    lr: float = 5e-5
    """Peak learning rate of the encoder."""
    head_lr_factor: float = 1.0
    """Learning rate of everything else, as a multiple of `lr`; 0 sets it by how large the encoder's states are."""
    weight_decay: float = 0.01
    """Decoupled weight decay of the encoder; biases and norms have none."""
    head_weight_decay: float = 0.0
    """Decoupled weight decay of everything else."""
    epochs: int = 3
    """Passes over the texts, unless `steps` is given."""
    steps: int = 0
    """Optimiser steps; 0 means by `epochs`."""
    batch_size: int = 32
    """Texts that are read together, at most; a step takes `batch_size × accumulate` texts, however many processes share
    them."""
    accumulate: int = 1
    """Batches whose gradients are averaged before a step; several processes divide them among themselves."""
    clip: float = 1.0
    """Largest norm of the whole gradient; 0 for no limit."""
    schedule: Literal["linear", "constant", "cosine", "one_cycle"] = "linear"
    """Course of the learning rate after the warm-up."""
    warmup: float = 0.1
    """Warm-up: a share of all steps if below 1, else a number of steps."""
    cool_down: float = 0.2
    """Last phase of `one_cycle`, as a share of all steps."""
    cycle_beta1: bool = False
    """Under `one_cycle`, move beta1 from 0.95 to 0.85 and back, as CascadeXML's code does."""
    beta1: float = 0.9
    """Decay of the running mean of gradients."""
    beta2: float = 0.999
    """Decay of the running mean of squared gradients."""
    eps: float = 1e-8
    """Added to the root of the squared gradients."""
    second_moment: Literal["auto", "element", "row"] = "auto"
    """Squared gradients of a node's weights one by one, or one mean per row: a third of the head's memory less.

    A head that scores all labels at every step (LightXML, flat) has nothing else by rows, not even gradients: a quarter
    of the memory. "auto" is by element, but by row for such a head of more than 32,000 labels."""
    heads: Literal["whole", "divided"] = "whole"
    """Of several processes, whether each has all rows of a head, or a part of them with their moments; a head that
    scores all labels at every step is always whole. What is learned is the same."""
    average: Literal["none", "swa", "ema"] = "none"
    """Average of the weights along the way: equal weights (SWA) or exponential."""
    average_from: float = 0.5
    """Share of the steps after which averaging begins."""
    average_every: int = 20
    """Steps between two contributions to the average."""
    ema_decay: float = 0.999
    """Weight of the past in the exponential average, per contribution."""
    watch_every: int = 0
    """Steps between two looks at the dev score; 0 means after every epoch."""
    patience: int = 0
    """Looks without a better dev score after which training stops; 0 means never."""
    progressive: tuple[int, ...] = ()
    """Token limits of successive equal parts of the training, short to long; empty means the encoder's limit."""
    checkpoint_minutes: float = 10.0
    """Minutes between two checkpoints, if a folder for them is given; 0 for none by the clock."""
    checkpoint_every: int = 0
    """Steps between two checkpoints beside those; 0 for none by steps."""
    log_every: int = 10
    """Steps between two lines of the log."""

    def __post_init__(self) -> None:
        _check(self, "positive", "lr", "batch_size", "accumulate", "eps", "average_every")
        _check(self, "positive", "log_every")
        _check(self, "zero or positive", "checkpoint_every", "checkpoint_minutes")
        _check(self, "zero or positive", "weight_decay", "head_weight_decay", "epochs", "steps", "clip", "warmup")
        _check(self, "zero or positive", "head_lr_factor", "watch_every", "patience")
        _check(self, "between 0 and 1", "cool_down", "beta1", "beta2", "average_from", "ema_decay")
        if any(limit < 4 for limit in self.progressive):
            raise ConfigError(f"progressive is {self.progressive}; every limit needs at least 4 tokens")


_RANGES: dict[str, Callable[[float], bool]] = {
    "positive": lambda value: value > 0,
    "zero or positive": lambda value: value >= 0,
    "between 0 and 1": lambda value: 0 <= value < 1,
}


def _check(config: OptimConfig, expected: str, *names: str) -> None:
    for name in names:
        value = getattr(config, name)
        if not math.isfinite(value) or not _RANGES[expected](value):
            raise ConfigError(f"{name} is {value}; it must be {expected}")


def check_watched(config: OptimConfig, dev_share: float | None) -> None:
    """Refuse options about a dev score that nobody takes: nothing is held out, or (None) the method has none."""
    for name in ("patience", "watch_every"):
        if getattr(config, name) and not dev_share:
            remedy = "this method has no dev score, leave it at 0" if dev_share is None else "set dev_share, as 0.1"
            raise ConfigError(f"{name} is {getattr(config, name)}, but no texts are held out to watch; {remedy}")

"""Averages of the weights along the way: stochastic weight averaging, or an exponential moving average.

swa    w̄ ← w̄ + (w − w̄) / n            after the n-th contribution (Izmailov et al., 2018; LightXML)
ema    w̄ ← d·w̄ + (1 − d)·w            d = ema_decay
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

from treetop.neural.settings import OptimConfig

__all__ = ["Average"]


class Average:
    """The running average of some parameters; before its first contribution it is empty and changes nothing."""

    def __init__(self, config: OptimConfig, parameters: Mapping[str, Tensor]) -> None:
        self.config, self.parameters = config, parameters
        self.mean: dict[str, Tensor] = {}
        self.count = 0

    def due(self, step: int, steps: int) -> bool:
        """Whether the weights after `step` steps (from 1) contribute."""
        start = int(self.config.average_from * steps)
        return self.config.average != "none" and step > start and (step - start - 1) % self.config.average_every == 0

    @torch.no_grad()
    def add(self) -> None:
        """Let the present weights contribute."""
        self.count += 1
        if self.count == 1:
            self.mean = {name: value.detach().clone() for name, value in self.parameters.items()}
            return
        share = 1 / self.count if self.config.average == "swa" else 1 - self.config.ema_decay
        for name, value in self.parameters.items():
            self.mean[name].lerp_(value.detach(), share)

    @torch.no_grad()
    def apply(self) -> None:
        """Put the average in the place of the weights, and the weights in the place of the average."""
        for name, mean in self.mean.items():
            kept = self.parameters[name].detach().clone()
            self.parameters[name].copy_(mean)
            mean.copy_(kept)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """For the time of a block, the average in the place of the weights."""
        self.apply()
        try:
            yield
        finally:
            self.apply()

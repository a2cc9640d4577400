"""Loss scaling for float16: gradients that would vanish in 16 bits are made larger, and small again before a step.

A step whose gradient overflows is left out and the scale halved; after many good ones it is doubled. The scale is part
of the run's state: a run that is resumed takes the steps an uninterrupted one would have taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn

from treetop.neural.full_head import FullHead

__all__ = ["LossScale"]

FIRST = 2.0**16
GROWS_AFTER = 2_000


class LossScale:
    """The factor of the loss; 1 and without effect unless `wanted`."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self.value, self.good = (FIRST if wanted else 1.0), 0

    def state(self) -> list[float]:
        """What a checkpoint keeps."""
        return [self.value, float(self.good)]

    def restore(self, state: list[float]) -> None:
        """Continue with what a checkpoint kept."""
        self.value, self.good = state[0], int(state[1])

    @torch.no_grad()
    def unscale(
        self,
        parameters: Iterable[nn.Parameter],
        heads: Sequence[FullHead] = (),
        agree: Callable[[bool], bool] = lambda finite: finite,
    ) -> bool:
        """Take the factor out of the gradients; False if one has overflowed and the step is to be left out.

        Processes that have gradients of their own `agree` on that.
        """
        if not self.wanted:
            return True
        values = [_values(parameter.grad) for parameter in parameters if parameter.grad is not None]
        values += [kept.of_logits for head in heads for kept in head.kept]
        torch._foreach_mul_(values, 1 / self.value)
        finite = agree(not values or bool(torch.isfinite(torch.stack([value.sum() for value in values])).all()))
        self.good = self.good + 1 if finite else 0
        if not finite:
            self.value = max(1.0, self.value / 2)
        elif self.good == GROWS_AFTER:
            self.value, self.good = self.value * 2, 0
        return finite


def _values(gradient: Tensor) -> Tensor:
    """The numbers of a gradient; of rows only, those of the rows."""
    return gradient._values() if gradient.is_sparse else gradient

"""Dropout around a centre: what all texts have in common stays, and what tells them apart is dropped at random.

    h ↦ c + dropout(h − c)

Up to nine tenths of a state's squared length can be the mean of all states. A linear start solves for what is left of
them without it, and may have large weights along the mean, which cost it nothing; dropping out the mean itself would
then throw logits about by more than the texts differ. Without a start, the centre is zero and this is plain dropout.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from treetop.types import Dense

__all__ = ["CentredDropout"]


class CentredDropout(nn.Module):
    """Dropout with probability `p` on states of a width; `around` sets the centre."""

    centre: Tensor

    def __init__(self, p: float, width: int) -> None:
        super().__init__()
        self.p = p
        self.register_buffer("centre", torch.zeros(width), persistent=False)

    def around(self, states: Dense) -> None:
        """From here on around the mean of these states."""
        self.centre.copy_(torch.from_numpy(states.mean(0, dtype=np.float64)))

    def forward(self, states: Tensor) -> Tensor:
        """The states, some of their numbers replaced by the centre's while the network learns."""
        if not self.training or not self.p:
            return states
        centre = self.centre.to(states.dtype)
        return centre + functional.dropout(states - centre, self.p)

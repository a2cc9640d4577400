"""Where networks run: which devices are there, which of them can learn, and whether looking at a number waits."""

from __future__ import annotations

import torch
from torch import Tensor

from treetop.errors import ConfigError

__all__ = ["check_device", "check_trains", "must_wait"]


def must_wait(tensor: Tensor) -> bool:
    """Whether a look at the tensor's numbers waits for a device that is elsewhere; on a CPU they are at hand."""
    return tensor.device.type != "cpu"


def check_device(device: str) -> None:
    """Refuse a device that torch does not know, or that is not here."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ConfigError(f"device is '{device}', which torch cannot use here ({reason}); choose 'cpu'") from error


def check_trains(device: str) -> None:
    """Refuse a device that networks cannot learn on."""
    if device.startswith("mps"):
        problem = "which has no sparse products, and so no shortlists can be learned on it"
        raise ConfigError(f"device is '{device}', {problem}; train on 'cpu' or 'cuda' (it can predict)")

"""Number formats: bfloat16 where the processor truly has it, else float32 with one line that says so.

Some virtual machines announce matrix instructions that kill the process when they are used (SIGILL), so the question is
put to a child process, once per run of Python.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from contextlib import AbstractContextManager
from functools import cache

import torch

from treetop.errors import ConfigError
from treetop.runtime import Runtime

__all__ = ["autocast", "check_device", "supports_bfloat16"]

_TRIAL = """
import torch
assert torch.ops.mkldnn._is_mkldnn_bf16_supported(), "emulated, slower than float32"
layer = torch.nn.Linear(256, 256)
with torch.autocast("cpu", torch.bfloat16):
    out = layer(torch.randn(64, 256))
    out = torch.nn.functional.scaled_dot_product_attention(*[out.view(1, 4, 64, 64)] * 3)
out.float().sum().backward()
assert torch.isfinite(layer.weight.grad).all()
"""


def check_device(device: str) -> None:
    """Refuse a device that torch does not know, or that is not here."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ConfigError(f"device is '{device}', which torch cannot use here ({reason}); choose 'cpu'") from error


@cache
def supports_bfloat16(device: str) -> bool:
    """Whether bfloat16 works and pays on the device; on a CPU, tried out in a child process that may die."""
    if device.startswith("cuda"):
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    if not device.startswith("cpu"):
        return False
    trial = subprocess.run([sys.executable, "-c", _TRIAL], capture_output=True, timeout=120, check=False)
    return trial.returncode == 0


def autocast(runtime: Runtime) -> AbstractContextManager[None]:
    """The context in which a network computes, for the runtime's precision."""
    kind = runtime.device.split(":")[0]
    if runtime.precision == "float32":
        return torch.autocast(kind, enabled=False)
    if not supports_bfloat16(runtime.device):
        warnings.warn(f"bfloat16 does not work or does not pay on this {kind}; computing in float32", stacklevel=2)
        return torch.autocast(kind, enabled=False)
    return torch.autocast(kind, torch.bfloat16)

"""Number formats: 16 bits where the processor truly has them, else float32 with one line that says so.

bfloat16 is for new GPUs and some CPUs; float16 is for GPUs before them (V100, T4), and needs the loss scaled in
training (`neural.scaling`). On GPUs float32 products take TensorFloat-32, whose inputs have 10 bits behind the point.

Some virtual machines announce matrix instructions that kill the process when they are used (SIGILL), so the question is
put to a child process, and its answer is kept.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from functools import cache

import torch

from treetop.errors import ConfigError
from treetop.runtime import Runtime
from treetop.text.reading.safety import machine_word, remembered, survives

__all__ = ["autocast", "supports_bfloat16"]

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


@cache
def supports_bfloat16(device: str) -> bool:
    """Whether bfloat16 works and pays on the device; on a CPU, tried out in a child process that may die."""
    if device.startswith("cuda"):  # older GPUs emulate it, slower than float32
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)
    if not device.startswith("cpu"):
        return False
    return remembered(machine_word("bfloat16", "torch"), lambda: {} if survives(_TRIAL, {}) else None) is not None


def autocast(runtime: Runtime) -> AbstractContextManager[None]:
    """The context in which a network computes, for the runtime's precision: entered as often as needed."""
    kind = runtime.device.split(":")[0]
    if kind == "cuda":
        torch.set_float32_matmul_precision("high")
    number = _number(runtime)
    return torch.autocast(kind, number) if number is not None else torch.autocast(kind, enabled=False)


def _number(runtime: Runtime) -> torch.dtype | None:
    """The 16-bit format to compute in, if any."""
    if runtime.precision == "float32":
        return None
    kind = runtime.device.split(":")[0]
    if runtime.precision == "float16":
        if kind != "cuda":
            raise ConfigError(f"precision is 'float16', which is for GPUs, not for a {kind}; choose another")
        return torch.float16
    if not supports_bfloat16(runtime.device):
        older = " (float16 is for older GPUs)" if kind == "cuda" else ""
        problem = f"bfloat16 does not work or does not pay on this {kind}; computing in float32{older}"
        warnings.warn(problem, stacklevel=3)
        return None
    return torch.bfloat16

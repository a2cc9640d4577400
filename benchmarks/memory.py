"""How much memory a training takes beside what was said before it: `python -m benchmarks memory`.

Each shape is generated in a process of its own; the peak is what the system says of that process from the beginning of
the training on, less what it held then.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.environments import variables

__all__ = ["MEMORY_SHAPES", "measure_memory"]

MEMORY_SHAPES = ("eurlex-4k", "amazoncat-13k:0.02", "wiki-500k:0.01", "amazon-670k:0.04", "amazon-3m:0.0078125")
"""Long and short texts, few and many labels, each a matter of seconds."""


def measure_memory(shape: str, threads: int) -> str:
    """A line: the shape, estimate and peak in MiB, and the one divided by the other."""
    command = [sys.executable, "-m", "benchmarks.memory", shape, str(threads)]
    finished = subprocess.run(command, capture_output=True, text=True, env=variables(threads, own=True), check=False)
    if finished.returncode:
        raise SystemExit(f"{shape} could not be measured: {finished.stderr.strip().splitlines()[-1]}")
    found = json.loads(finished.stdout)
    estimate, peak = found["estimate"] / 2**20, found["peak"] / 2**20
    return f"{shape:<22} said {estimate:8.1f} MiB, took {peak:8.1f}, ratio {estimate / peak:5.2f}"


def _measure(shape: str, threads: int) -> dict[str, int]:
    import treetop
    from benchmarks.generate import generate
    from benchmarks.plan import shape_of
    from treetop.data import Corpus, Dataset, LabelSpace
    from treetop.sparse import canonical

    made = generate(shape_of(shape))
    space = LabelSpace([str(label) for label in range(made.train_labels.shape[1])])
    train = Dataset(Corpus([], canonical(made.train_features)), canonical(made.train_labels), space)
    del made
    model = treetop.XRLinear(runtime=treetop.Runtime(threads=threads))
    estimate = model.memory_estimate(train)
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = _status("VmRSS")
    model.fit(train)
    return {"estimate": estimate, "peak": _status("VmHWM") - before}


def _status(name: str) -> int:
    """Bytes that the system says of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_measure(sys.argv[1], int(sys.argv[2]))))

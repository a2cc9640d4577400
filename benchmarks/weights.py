"""Ways of storing weights beside float32: the same training, the same texts, paired differences, sizes and times.

    python -m benchmarks weights --data DATA

One process, one reading; each kind is trained, stored, mapped and asked in turn. Sizes are of the linear levels alone,
and times the least CPU of some repeats.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

import treetop
from treetop.kernels import WeightType
from treetop.metrics import paired_difference

__all__ = ["KINDS", "compare_weights"]

KINDS: tuple[WeightType, ...] = get_args(WeightType)
METRICS = ("p@1", "p@3", "p@5", "r@10")


def compare_weights(data: Path, *, repeats: int, threads: int, singles: int = 1000) -> str:
    """A table with a line for each kind."""
    runtime = treetop.Runtime(threads=threads)
    train = treetop.read(data, split="train")
    test = treetop.read(data, split="test", space=train.space)
    lines = [f"{data.name}: {len(test):,} test texts; minus float32 (standard error of the difference)"]
    base: treetop.Predictions | None = None
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            model: treetop.Method = treetop.XRLinear(runtime=runtime, linear={"weights": kind})
            seconds = _cpu_of(partial(model.fit, train))
            model.save(folder)
            size = sum(file.stat().st_size for file in Path(folder).glob("ranker-*/level-*"))
            model = treetop.load(folder, runtime=runtime)
            found = model.predict(test, k=10)
            batch = _least(repeats, partial(model.predict, test, k=10))
            single = _least(repeats, partial(_one_by_one, model, test.corpus.texts[:singles])) / singles
        base = found if base is None else base
        cost = f"train {seconds:5.2f} s, predict all {batch:5.3f} s, one {1e6 * single:4.0f} µs"
        lines.append(f"{kind:<8} {_quality(found, base, test)}  levels {size / 1e6:6.1f} MB, {cost}")
    return "\n".join(lines)


def _quality(found: treetop.Predictions, base: treetop.Predictions, test: treetop.Dataset) -> str:
    values = treetop.evaluate(found, test.labels, list(METRICS))
    if found is base:
        return "  ".join(f"{name} {100 * values[name]:5.2f}          " for name in METRICS)
    changes = {name: paired_difference(found, base, test.labels, name) for name in METRICS}
    return "  ".join(
        f"{name} {100 * change.value:+.3f} ({100 * change.standard_error:.3f})" for name, change in changes.items()
    )


def _one_by_one(model: treetop.Method, texts: Sequence[str]) -> None:
    for text in texts:
        model.predict([text], k=10)


def _least(repeats: int, action: Callable[[], object]) -> float:
    return min(_cpu_of(action) for _ in range(repeats))


def _cpu_of(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin

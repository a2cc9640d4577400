"""One of several processes that train together: `python together.py OUT METHOD,METHOD…`; the environment says which,
and with HEADS how heads are kept, with CHECKPOINTS where a training can be continued, with VICTIM who dies in it.

Every process writes what its own model predicts, so that all can be compared; and what it cost it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

__all__ = ["ended", "models", "start"]


def start(processes: int, out: Path, what: str, program: str = __file__, **more: str) -> list[subprocess.Popen[str]]:
    """Start them without torchrun, which would end all when one ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(processes), "PYTHONPATH": path}
    return [
        subprocess.Popen(
            [sys.executable, program, str(out), what],
            env={**os.environ, **shared, **more, "RANK": str(rank), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(processes)
    ]  # fmt: skip


def ended(processes: list[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    """How each ended, and what it said."""
    try:
        said = [process.communicate(timeout=300)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(process.returncode, text) for process, text in zip(processes, said, strict=True)]


def models(runtime: Any) -> dict[str, Any]:
    """All four methods without dropout, so that it does not matter who reads which text."""
    from dataclasses import replace

    from tiny_methods import OPTIM, cascade, light, matching, recursive

    heads: Any = os.environ.get("HEADS", "whole")
    short = replace(OPTIM, epochs=2, heads=heads, checkpoint_every=1)
    return {
        "lightxml": light(mode="groups", bootstrap="linear", dropout=0.0, optim=short)(runtime),
        "cascadexml": cascade(sparse=True, bootstrap="linear", dropouts=(0.0,), optim=short)(runtime),
        "xr-transformer": recursive(dropout=0.0, optim=short)(runtime),
        "x-transformer": matching(dropout=0.0, optim=short)(runtime),
    }


def die_at_the_third_step() -> None:
    from treetop.neural.parallel import World

    step, left = World.sum_gradients, [3]

    def dying(self: World, parameters: Any, heads: Any = ()) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), 9)
        step(self, parameters, heads)

    World.sum_gradients = dying  # type: ignore[method-assign]


def main() -> None:
    """Train the methods one after the other."""
    import numpy as np

    from conftest import planted
    from treetop.runtime import Runtime

    train, rank = planted(160, seed=1), os.environ.get("RANK", "0")
    if rank == os.environ.get("DRIFTER"):
        train = train.take(np.arange(150))
    if rank == os.environ.get("VICTIM"):
        die_at_the_third_step()
    found, cost = {}, {}
    for name in sys.argv[2].split(","):
        model = models(Runtime(threads=1))[name]
        if "CHECKPOINTS" in os.environ:
            model.checkpoint = Path(os.environ["CHECKPOINTS"]) / name
        began = time.process_time()
        model.fit(train)
        cost[name] = time.process_time() - began
        found[name] = model.predict(train.corpus.texts[:40], k=5).scores
    np.savez(f"{sys.argv[1]}-{rank}.npz", **found)
    Path(f"{sys.argv[1]}-{rank}.json").write_text(json.dumps(cost))


if __name__ == "__main__":
    from treetop.errors import TreetopError

    try:
        main()
    except TreetopError as error:
        sys.exit(f"error: {error}")

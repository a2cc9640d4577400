"""A cluster of several nodes on this machine: the same models, whatever happens to it."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import treetop
from on_ray import arguments, digest, train, until
from treetop.apps.cluster.connecting import connected
from treetop.progress import Progress

pytest.importorskip("ray")

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_any_number_of_nodes_trains_the_same_model(many: Path, local: str, tmp_path: Path, nodes: int) -> None:
    trained = train(many, tmp_path / "m", "--cluster", f"local:{nodes}")
    assert trained.returncode == 0, trained.stderr
    assert digest(tmp_path / "m") == local
    assert os.listdir(tmp_path) == ["m"]


def test_a_node_that_is_killed_costs_only_its_pieces(many: Path, local: str, tmp_path: Path) -> None:
    from treetop.apps.cluster.workers import RayWorkers

    class Listening(Progress):
        """Kills the last node as soon as a piece of the last level is done."""

        def stage(self, title: str, total: int | None = None, before: int = 0) -> Any:
            return nullcontext(kill if title == "train level 2" else lambda steps: None)

    killed: list[Any] = []

    def kill(steps: int) -> None:
        if not killed:
            killed.append(next(iter(nodes.worker_nodes)))
            nodes.remove_node(killed[0], allow_graceful=False)

    with connected("local:3") as nodes:
        runtime = treetop.Runtime(threads=1, progress=Listening(), workers=RayWorkers(tmp_path / "shared"))
        model = treetop.XRLinear(runtime=runtime).fit(treetop.read(many, split="train"))
        model.runtime = replace(runtime, workers=None)
        model.save(tmp_path / "m")
    assert killed
    assert digest(tmp_path / "m") == local


def test_a_driver_that_is_killed_goes_on_where_it_was(many: Path, local: str, tmp_path: Path) -> None:
    out = tmp_path / "m"
    driver = subprocess.Popen(arguments(many, out, "--cluster", "local:2"), start_new_session=True)
    results = tmp_path / "m.cluster" / "results"
    first = until(lambda: list(results.glob("*/*.safetensors")))[0]
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    os.killpg(driver.pid, signal.SIGKILL)
    written = first.stat().st_mtime_ns
    again = subprocess.Popen(arguments(many, out, "--cluster", "local:2"))
    until(lambda: first.exists() is False or len(list(results.glob("*/*.safetensors"))) > 1 or again.poll() is not None)
    assert not first.exists() or first.stat().st_mtime_ns == written
    assert again.wait() == 0
    assert digest(out) == local

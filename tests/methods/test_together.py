"""Several processes of gloo train one model: as one process does, with clear words when they cannot."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch.distributed as dist

from together import models, start
from treetop.runtime import Runtime

METHODS = ("lightxml", "cascadexml", "xr-transformer", "x-transformer")

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="needs torch.distributed")


def ended(processes: list[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    """How each ended, and what it said."""
    try:
        said = [process.communicate(timeout=300)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(process.returncode, text) for process, text in zip(processes, said, strict=True)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    from conftest import planted

    train = planted(160, seed=1)
    fitted = {name: model.fit(train) for name, model in models(Runtime(threads=1)).items()}
    return {name: model.predict(train.corpus.texts[:40], k=5).scores for name, model in fitted.items()}


@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_several_processes_learn_what_one_does(processes: int, alone: dict[str, Any], tmp_path: Path) -> None:
    """All four methods; and every process has the whole model at the end, not only the one that saves it."""
    for code, said in ended(start(processes, tmp_path / "out", ",".join(METHODS))):
        assert code == 0, said
    for rank in range(processes):
        found = np.load(tmp_path / f"out-{rank}.npz")
        for name in METHODS:
            np.testing.assert_allclose(found[name], alone[name], atol=2e-3, err_msg=f"{name}, process {rank}")


@pytest.mark.slow
def test_a_process_that_is_killed_ends_the_others_with_one_line(tmp_path: Path) -> None:
    first, second = ended(start(2, tmp_path / "out", "x-transformer", VICTIM="1"))
    assert second[0] == -9
    lines = [line for line in first[1].splitlines() if line.startswith("error:")]
    assert first[0] == 1
    assert len(lines) == 1
    assert "process 0 of 2 lost another one" in lines[0]
    assert "--resume continues" in lines[0]
    assert "Traceback" not in first[1]


@pytest.mark.slow
def test_processes_with_other_data_are_told_apart_before_they_learn(tmp_path: Path) -> None:
    for code, said in ended(start(2, tmp_path / "out", "lightxml", DRIFTER="1")):
        assert code == 1
        assert "the 2 processes differ in their texts: process 0 has 160, process 1 has 150" in said

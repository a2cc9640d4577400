"""Several processes of gloo train one model: as one process does, with clear words when they cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch.distributed as dist

from tiny_methods import encoder
from together import ended, models, start
from treetop.runtime import Runtime

METHODS = ("lightxml", "cascadexml", "xr-transformer", "x-transformer")
HEADS = ("whole", "divided")

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="needs torch.distributed")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    from conftest import planted

    train = planted(160, seed=1)
    fitted = {name: model.fit(train) for name, model in models(Runtime(threads=1)).items()}
    return {name: model.predict(train.corpus.texts[:40], k=5).scores for name, model in fitted.items()}


@pytest.mark.parametrize(
    ("processes", "heads"), [(2, "whole"), (2, "divided"), *(pytest.param(4, h, marks=pytest.mark.slow) for h in HEADS)]
)
def test_several_processes_learn_what_one_does(
    processes: int, heads: str, alone: dict[str, Any], tmp_path: Path
) -> None:
    """All four methods; and every process has the whole model at the end, not only the one that saves it."""
    for code, said in ended(start(processes, tmp_path / "out", ",".join(METHODS), HEADS=heads)):
        assert code == 0, said
    for rank in range(processes):
        found = np.load(tmp_path / f"out-{rank}.npz")
        for name in METHODS:
            np.testing.assert_allclose(found[name], alone[name], atol=2e-3, err_msg=f"{name}, process {rank}")


@pytest.mark.slow
@pytest.mark.parametrize(("heads", "after"), [("whole", 2), ("divided", 2), ("divided", 4)])
def test_a_process_that_is_killed_ends_the_others_with_one_line_and_all_resume(
    heads: str, after: int, alone: dict[str, Any], tmp_path: Path
) -> None:
    """Also as another number of processes than before: a checkpoint has all rows."""
    both = {"HEADS": heads, "CHECKPOINTS": str(tmp_path / "checkpoints"), "TINY_ENCODER": encoder().name}
    first, second = ended(start(2, tmp_path / "out", "lightxml", VICTIM="1", **both))
    assert second[0] == -9
    lines = [line for line in first[1].splitlines() if line.startswith("error:")]
    assert first[0] == 1
    assert len(lines) == 1
    assert "process 0 of 2 lost another one" in lines[0]
    assert "--resume continues" in lines[0]
    assert "Traceback" not in first[1]
    (kept,) = (tmp_path / "checkpoints").glob("*/*/step-*")
    assert json.loads((kept / "state.json").read_text())["step"] == 2
    for code, said in ended(start(after, tmp_path / "out", "lightxml", **both)):
        assert code == 0, said
    np.testing.assert_allclose(np.load(tmp_path / "out-1.npz")["lightxml"], alone["lightxml"], atol=2e-3)


@pytest.mark.slow
def test_processes_with_other_data_are_told_apart_before_they_learn(tmp_path: Path) -> None:
    for code, said in ended(start(2, tmp_path / "out", "lightxml", DRIFTER="1")):
        assert code == 1
        assert "the 2 processes differ in their texts: process 0 has 160, process 1 has 150" in said

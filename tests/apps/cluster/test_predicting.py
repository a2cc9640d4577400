from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from on_ray import until
from processes import children, command
from shell import run

pytest.importorskip("ray")

pytestmark = pytest.mark.slow


def test_suggestions_for_many_texts_while_an_actor_is_killed(many: Path, trained_here: Path, tmp_path: Path) -> None:
    model, texts = trained_here, many
    assert run("predict", model, texts, "--out", tmp_path / "here.jsonl").returncode == 0
    command_line = [sys.executable, "-m", "treetop", "predict", str(model), str(texts), "--out",
                    str(tmp_path / "there.jsonl"), "--cluster", "local:2", "--chunk", "500"]  # fmt: skip
    driver = subprocess.Popen(command_line)
    results = tmp_path / "there.jsonl.cluster" / "results"
    until(lambda: list(results.glob("*/*.safetensors")))
    for process in filter(str.isdecimal, os.listdir("/proc")):
        if b"MapWorker" in command(int(process)) and _descends(int(process), driver.pid):
            os.kill(int(process), signal.SIGKILL)
            break
    assert driver.wait(timeout=300) == 0
    assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()


def _descends(process: int, ancestor: int) -> bool:
    return process == ancestor or any(_descends(process, child) for child in children(ancestor))

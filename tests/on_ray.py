"""What tests of a cluster of several nodes on this machine share."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

LABELS = 9000  # of several pieces


def write_texts(path: Path) -> None:
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for number in range(2 * LABELS):
            label = number % LABELS
            words = [f"w{label % 997}", f"v{label // 9}", *(f"x{one}" for one in rng.integers(0, 300, 4))]
            file.write(json.dumps({"text": " ".join(words), "labels": [f"l{label}"]}) + "\n")


def train(data: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments(data, out, *options), capture_output=True, text=True, timeout=300, check=False)


def arguments(data: Path, out: Path, *options: str) -> list[str]:
    given = ["--data", data, "--out", out, "--method", "xr-linear", "--no-calibration", "--no-evaluate", "--quiet"]
    return [sys.executable, "-m", "treetop", "train", *map(str, given), *options]


def digest(model: Path) -> str:
    files = sorted(file for file in model.rglob("*.safetensors") if file.is_file())
    return sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest()


def until(condition: Callable[[], Any], seconds: float = 120) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found

"""Data and a trained model on disk, for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from shell import run, write_jsonl
from treetop.data import Dataset


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, toy_train: Dataset, toy_test: Dataset) -> Path:
    path = tmp_path_factory.mktemp("data")
    write_jsonl(path / "train.jsonl", toy_train)
    write_jsonl(path / "test.jsonl", toy_test)
    return path


@pytest.fixture(scope="module")
def model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model"
    done = run(
        "train", "--data", folder, "--method", "xr-linear", "--out", path, "--set", "tree.max_leaf=8", "--seed", "3"
    )
    assert done.returncode == 0, done.stderr
    assert "400 texts, 42 labels" in " ".join(done.stderr.split())
    return path

"""Three contenders on the same texts: a good model, a poor one, and the good one's predictions in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import treetop
from shell import write_jsonl
from treetop.apps.comparing import Field, Wanted, line_up
from treetop.apps.writers import writer
from treetop.data import Dataset
from treetop.runtime import Runtime


@pytest.fixture(scope="package")
def home(tmp_path_factory: pytest.TempPathFactory, toy_train: Dataset, toy_test: Dataset) -> Path:
    path = tmp_path_factory.mktemp("compared")
    write_jsonl(path / "test.jsonl", toy_test)
    good = treetop.XRLinear(tree={"max_leaf": 8}).fit(toy_train)
    good.save(path / "good")
    treetop.XRLinear(tree={"max_leaf": 8}).fit(toy_train.take(range(40))).save(path / "poor")
    with writer(path / "saved.csv") as write:
        write([f"t{row}" for row in range(len(toy_test))], good.predict(toy_test, 10))
    return path


@pytest.fixture(scope="package")
def field(home: Path) -> Field:
    names = ("good", "poor", "saved.csv")
    return line_up([home / name for name in names], Wanted(home / "test.jsonl"), 10, Runtime(threads=1))

"""Models on disk and a report on them: one calibrated, one that is not, and the predictions of a third in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import treetop
from shell import write_jsonl
from treetop.apps.comparing import Field, Wanted, line_up
from treetop.apps.report import Report, gather
from treetop.apps.report.gathering import DEPTH
from treetop.apps.writers import writer
from treetop.data import Dataset
from treetop.runtime import Runtime


@pytest.fixture(scope="package")
def home(tmp_path_factory: pytest.TempPathFactory, toy_train: Dataset, toy_test: Dataset) -> Path:
    path = tmp_path_factory.mktemp("reported")
    write_jsonl(path / "test.jsonl", toy_test)
    write_jsonl(path / "train.jsonl", toy_train)
    model = treetop.XRLinear(tree={"max_leaf": 8}).fit(toy_train.take(range(250)))
    model.calibrate(toy_train.take(range(250, 400))).save(path / "calibrated")
    treetop.XRLinear(tree={"max_leaf": 8}).fit(toy_train.take(range(40))).save(path / "poor")
    with writer(path / "saved.csv") as write:
        write([f"t{row}" for row in range(len(toy_test))], model.predict(toy_test, 10))
    return path


@pytest.fixture(scope="package")
def field(home: Path) -> Field:
    names = ("calibrated", "poor", "saved.csv")
    return line_up([home / name for name in names], Wanted(home / "test.jsonl"), DEPTH, Runtime(threads=1))


@pytest.fixture(scope="package")
def report(field: Field) -> Report:
    return gather(field, "test")


@pytest.fixture(scope="package")
def alone(home: Path) -> Report:
    """On the calibrated model only."""
    return gather(line_up([home / "calibrated"], Wanted(home / "test.jsonl"), DEPTH, Runtime(threads=1)), "test")

"""A calibrated model on disk, and a service of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from serving import Served, served
from treetop.apps.serve.settings import Settings
from treetop.data import Dataset
from treetop.labels import TreeConfig
from treetop.methods.xr_linear import XRLinear, XRLinearConfig

CONFIG = XRLinearConfig(tree=TreeConfig(max_leaf=8))


@pytest.fixture(scope="session")
def calibrated(toy_train: Dataset, toy_test: Dataset) -> XRLinear:
    described = toy_train.space.with_texts({name: f"About {name}" for name in toy_train.space.names})
    return XRLinear(CONFIG).fit(replace(toy_train, space=described)).calibrate(toy_test)


@pytest.fixture(scope="session")
def model_folder(calibrated: XRLinear, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served") / "toy"
    calibrated.save(path)
    return path


@pytest.fixture(scope="session")
def plain_folder(toy_train: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model without calibration and label texts."""
    path = tmp_path_factory.mktemp("served") / "plain"
    XRLinear(CONFIG).fit(toy_train).save(path)
    return path


@pytest.fixture(scope="session")
def service(model_folder: Path, plain_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Both models, and a folder for feedback; for tests that change nothing but the feedback."""
    settings = Settings(port=0, threads=1, feedback=tmp_path_factory.mktemp("feedback"))
    with served({"toy": model_folder, "plain": plain_folder}, settings) as running:
        yield running

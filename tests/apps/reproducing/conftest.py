from __future__ import annotations

from pathlib import Path

import pytest

from treetop.data import Dataset


@pytest.fixture(scope="package")
def data(tmp_path_factory: pytest.TempPathFactory, toy_train: Dataset, toy_test: Dataset) -> Path:
    from small_release import write_release  # needs torch, which the tests beside this file do, too

    return write_release(tmp_path_factory.mktemp("release"), toy_train, toy_test)

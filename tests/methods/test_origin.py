from __future__ import annotations

import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import joblib
import pytest

from treetop.data import Dataset
from treetop.errors import StoreError
from treetop.methods import Method, load
from treetop.methods.origin import Origin, digest_of
from treetop.methods.xr_linear import XRLinear
from treetop.runtime import Runtime


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model" / "part").mkdir(parents=True)
    (tmp_path / "model" / "card").write_text("a")
    (tmp_path / "model" / "part" / "weights").write_bytes(bytes(1 << 17))
    return tmp_path / "model"


def test_a_folder_that_is_as_it_was(folder: Path) -> None:
    origin = Origin.of(folder)
    assert origin.unchanged()
    origin.check()


@pytest.mark.parametrize("change", ["content", "name", "more", "weights", "gone"])
def test_a_folder_that_has_changed(change: str, folder: Path) -> None:
    origin = Origin.of(folder)
    weights = folder / "part" / "weights"
    if change == "content":
        (folder / "card").write_text("b")
    elif change == "name":
        (folder / "card").rename(folder / "map")
    elif change == "more":
        (folder / "part" / "more").touch()
    elif change == "weights":
        os.utime(weights, ns=(0, weights.stat().st_mtime_ns + 1))
    else:
        folder.rename(folder.with_name("elsewhere"))
    assert not origin.unchanged()
    with pytest.raises(StoreError, match=r"model: this model was pickled as the folder .* gone or has changed"):
        origin.check()


def test_the_time_of_a_small_file_does_not_count(folder: Path) -> None:
    before = digest_of(folder)
    os.utime(folder / "card", ns=(0, 0))
    assert digest_of(folder) == before


def first_labels(model: Method[Runtime], texts: list[str]) -> list[str]:
    return [row[0].label for row in model.predict(texts, k=1)]


@pytest.mark.parametrize("kind", ["trained", "loaded"])
def test_spawned_processes_and_joblib(kind: str, toy_train: Dataset, toy_test: Dataset, tmp_path: Path) -> None:
    model: Method[Any] = XRLinear(trees=2, runtime=Runtime(threads=1)).fit(toy_train)
    if kind == "loaded":
        model.save(tmp_path / "model")
        model = load(tmp_path / "model", runtime=Runtime(threads=1))
    texts = list(toy_test.corpus.texts[:20])
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(first_labels, model, texts).result() == first_labels(model, texts)
    joblib.dump(model, tmp_path / "model.joblib")
    assert first_labels(joblib.load(tmp_path / "model.joblib"), texts) == first_labels(model, texts)


def test_a_model_that_learned_anew_is_no_longer_its_folder(toy_train: Dataset, tmp_path: Path) -> None:
    XRLinear().fit(toy_train).save(tmp_path / "model")
    loaded = load(tmp_path / "model").fit(["red apple", "heavy rain"], [["fruit"], ["weather"]])
    assert len(pickle.loads(pickle.dumps(loaded)).space) == 2

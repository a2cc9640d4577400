"""A served model: tried before it is used, known by what is in its folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from treetop.apps.serve.model import ServedModel, version_of
from treetop.errors import ConfigError, StoreError
from treetop.methods.xr_linear import XRLinear
from treetop.runtime import Runtime


def test_it_predicts_what_the_model_predicts(model_folder: Path, calibrated: XRLinear) -> None:
    served = ServedModel.load("toy", model_folder, Runtime(threads=1))
    assert served.predict(["topic1 word1x2x0"], 5, None) == calibrated.predict(["topic1 word1x2x0"], 5)
    assert served.kind == "probability"
    assert not served.needs_encoder


def test_thresholds_in_words_are_those_of_the_model(model_folder: Path, calibrated: XRLinear) -> None:
    served, text = ServedModel.load("toy", model_folder, Runtime(threads=1)), ["topic1 word1x2x0"]
    for aim, own in (("auto", "f1"), ("f1", "f1"), ("precision:0.9", "precision:0.9"), ("0.3", 0.3), (0.3, 0.3)):
        found = served.cut(served.predict(text, 10, None), aim)
        assert found == calibrated.predict(text, 10, threshold=own)


def test_the_version_is_that_of_the_contents(model_folder: Path, plain_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(model_folder, copy)
    assert version_of(copy) == version_of(model_folder) != version_of(plain_folder)
    (copy / "manifest.json").unlink()
    assert version_of(copy)


def test_what_is_no_model_is_refused(model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no model folder"):
        ServedModel.load("none", tmp_path / "none", Runtime())
    broken = tmp_path / "broken"
    shutil.copytree(model_folder, broken)
    (broken / "labels.jsonl").write_text("")
    with pytest.raises(StoreError, match="damaged"):
        ServedModel.load("broken", broken, Runtime())

"""A trained model predicts without torch and transformers: with tokenizers and the engine that it was exported for."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("openvino", reason="needs the extra 'openvino'")
pytest.importorskip("nncf", reason="needs the extra 'openvino'")

from tiny_methods import OPTIM, cascade, encoder, light, matching, recursive
from treetop.data import Dataset
from treetop.methods import Method, fine_tuned, load
from treetop.methods.fine_tuned import FineTuned
from treetop.runtime import Runtime
from treetop.text.reading.text_reader import FolderReader
from treetop.text.reading.torch_reader import EncoderReader

QUICK = replace(OPTIM, epochs=1)
MAKERS: dict[str, tuple[Callable[..., Callable[[Runtime], Method[Any]]], dict[str, Any]]] = {
    "xr-transformer": (recursive, {}),
    "x-transformer": (matching, {}),
    "lightxml flat": (light, {}),
    "lightxml with groups": (light, {"mode": "groups"}),
    "lightxml with two encoders": (light, {"mode": "groups", "negatives": "static-tuned"}),
    "cascadexml": (cascade, {}),
    "cascadexml with a linear vote": (cascade, {"sparse": True}),
}
TEXTS = ["topic1 word1x2x0 noise3", "topic4", ""]
PREDICT = """
import json, sys
for absent in ("torch", "transformers", "nncf"):
    sys.modules[absent] = None  # an import of it fails
import treetop
from treetop.runtime import Runtime
model = treetop.load(sys.argv[1], runtime=Runtime(threads=1))
found = model.predict(json.loads(sys.argv[2]), k=5)
json.dump({"labels": found.labels.tolist(), "scores": found.scores.tolist()}, sys.stdout)
"""


@pytest.fixture(scope="module", params=list(MAKERS))
def model(request: pytest.FixtureRequest, toy_train: Dataset) -> Method[Any]:
    kind, options = MAKERS[request.param]
    made = kind(optim=QUICK, **options)(Runtime())
    precision: Any = "int8" if kind is recursive else "float32"  # which is quicker to export
    config = replace(made.config, encoder=replace(encoder(), reader="openvino", reader_precision=precision))
    return type(made)(config, runtime=Runtime(threads=1)).fit(toy_train)


def test_it_predicts_the_same_without_torch(model: Method[Any], tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    command = [sys.executable, "-c", PREDICT, str(tmp_path / "model"), json.dumps(TEXTS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found, expected = json.loads(done.stdout), model.predict(TEXTS, k=5)
    assert found["labels"] == expected.labels.tolist()
    np.testing.assert_allclose(found["scores"], expected.scores, rtol=1e-5)


def test_torch_ranks_nearly_the_same(model: Method[Any], toy_test: Dataset, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    card = tmp_path / "model" / "model.json"
    card.write_text(card.read_text().replace('"reader": "openvino"', '"reader": "torch"'))
    (tmp_path / "model" / "manifest.json").unlink()  # it was changed on purpose
    with_torch = load(tmp_path / "model", runtime=Runtime(threads=1)).predict(toy_test, k=1)
    assert (with_torch.labels == model.predict(toy_test, k=1).labels).mean() > 0.95


def test_a_folder_without_an_export_is_read_with_torch_and_says_so(
    model: Method[Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model.save(tmp_path / "model")
    for exported in (tmp_path / "model").glob("*encoder/openvino"):
        shutil.rmtree(exported)
    (tmp_path / "model" / "manifest.json").unlink()  # they were removed on purpose
    with caplog.at_level("INFO", "treetop"):
        opened = load(tmp_path / "model", runtime=Runtime(threads=1))
    assert "texts are read with torch" in caplog.text
    assert (opened.predict(TEXTS, k=1).labels == model.predict(TEXTS, k=1).labels)[:2].all()


def test_it_can_be_saved_again(model: Method[Any], tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    load(tmp_path / "model").save(tmp_path / "again")
    again = load(tmp_path / "again", runtime=Runtime(threads=1))
    np.testing.assert_array_equal(again.predict(TEXTS).scores, model.predict(TEXTS).scores)


@pytest.mark.parametrize("share", [0.6, 1.01])
def test_an_export_that_finds_other_labels_is_not_used(
    share: float, toy_train: Dataset, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fine_tuned, "_SAME_LABELS", share)
    made = light(optim=QUICK)(Runtime())
    config = replace(made.config, encoder=replace(encoder(), reader="openvino", reader_precision="float32"))
    model = type(made)(config, runtime=Runtime(threads=1)).fit(toy_train)
    assert isinstance(model, FineTuned)
    assert isinstance(model.reader, EncoderReader if share > 1 else FolderReader)
    assert ("torch reads" in caplog.text) == (share > 1)
    assert len(model.predict(TEXTS)) == len(TEXTS)

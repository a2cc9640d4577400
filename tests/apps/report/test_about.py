"""Facts around the figures."""

from __future__ import annotations

import platform

from treetop.apps.comparing import Field
from treetop.apps.report.about import about_data, about_model, versions
from treetop.config import to_dict
from treetop.data.fingerprint import fingerprint


def test_data(field: Field) -> None:
    found = about_data(field, "test")
    assert found["texts"] == sum(found["labels_per_text"].values()) == sum(found["words_per_text"].values()) == 120
    assert found["pairs"] == field.dataset.labels.nnz
    assert found["fingerprint"] == fingerprint(field.dataset)
    assert found["unseen_labels"] == 0


def test_a_model_tells_its_settings_and_what_it_learned_from(field: Field) -> None:
    model = field.contenders[0].model
    assert model is not None
    found = about_model(model)
    assert (found["method"], found["training"]["texts"]) == ("xr-linear", 250)
    assert found["config"] == to_dict(model.config)
    assert found["facts"]["calibrated on"].startswith("150 texts")
    assert found["training_curve"] == []


def test_versions() -> None:
    assert versions()["python"] == platform.python_version()
    assert {"treetop", "numpy", "scipy"} <= set(versions())

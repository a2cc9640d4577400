"""Suggestions over HTTP are those of the model."""

from __future__ import annotations

import pytest

from serving import Served
from treetop.methods.xr_linear import XRLinear

TEXT = "topic1 word1x2x0 word1x3x1"


def test_the_answer(service: Served, calibrated: XRLinear) -> None:
    answer = service.suggest(TEXT, "", k=3).json
    assert (answer["model"], answer["kind"]) == ("toy", "probability")
    assert answer["version"] == service.service.shelf["toy"].version
    for result, own in zip(answer["results"], calibrated.predict([TEXT, ""], 3), strict=True):
        assert [s["label"] for s in result["suggestions"]] == [s.label for s in own]
        assert [s["score"] for s in result["suggestions"]] == pytest.approx([s.score for s in own], abs=1e-6)
        assert all(s["probability"] == s["score"] for s in result["suggestions"])
        assert all(s["text"] == f"About {s['label']}" for s in result["suggestions"])


def test_another_model(service: Served) -> None:
    answer = service.suggest(TEXT, model="plain").json
    assert (answer["model"], answer["kind"]) == ("plain", "score")
    assert answer["results"][0]["suggestions"][0]["probability"] is None


def test_among_some_labels(service: Served) -> None:
    answer = service.suggest(TEXT, labels=["label 0-1", "label 1-2"]).json
    assert {s["label"] for s in answer["results"][0]["suggestions"]} <= {"label 0-1", "label 1-2"}


@pytest.mark.parametrize("threshold", ["auto", "f1", "precision:0.9", 0.3, "0.3", 1])
def test_thresholds(service: Served, calibrated: XRLinear, threshold: float | str) -> None:
    found = service.suggest(TEXT, threshold=threshold).json["results"][0]["suggestions"]
    own = calibrated.predict([TEXT], 10, threshold="f1" if threshold == "auto" else threshold)[0]
    assert [s["label"] for s in found] == [s.label for s in own]


def test_words_need_a_calibrated_model(service: Served) -> None:
    assert "calibrate" in service.suggest(TEXT, model="plain", threshold="auto").problem


def test_no_texts(service: Served) -> None:
    assert service.suggest().json["results"] == []

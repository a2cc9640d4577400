"""Explanations over HTTP are those of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from serving import Served, served
from treetop.methods import Method
from treetop.methods.xr_linear import XRLinear

TEXT = "topic1 word1x2x0 word1x3x1"


def explanations(answer: Any) -> list[Any]:
    return [one["explanation"] for result in answer["results"] for one in result["suggestions"]]


def test_every_suggestion_is_explained(service: Served, calibrated: XRLinear) -> None:
    found = explanations(service.suggest(TEXT, "topic2 word2x1x1", k=2, explain=True).json)
    assert len(found) == 4
    for one in found:
        own = calibrated.explain(one["text"], one["label"]).to_dict()
        assert [word["word"] for word in one["words"]] == [word["word"] for word in own["words"]]
        assert one["margin"] == pytest.approx(own["margin"])
    assert found[0]["words"][0]["contribution"] != 0


def test_only_where_it_is_asked_for(service: Served) -> None:
    assert explanations(service.suggest(TEXT, k=2).json) == [None, None]


def test_a_label_that_is_not_suggested(service: Served) -> None:
    (one,) = explanations(service.suggest(TEXT, k=1, labels=["label 5-5"], explain=True).json)
    assert (one["label"], one["rank"] is None or one["rank"] > 1) == ("label 5-5", True)


def test_a_text_without_known_words_has_none(service: Served) -> None:
    assert explanations(service.suggest("zebra", "", k=2, explain=True).json) == [None] * 4


def test_not_too_many_at_once(service: Served) -> None:
    assert "too many at once" in service.suggest(*[TEXT] * 11, k=10, explain=True).problem


def test_a_method_that_cannot(plain_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(XRLinear, "_account", Method._account)  # as of methods that do not say how they come to scores
    with served({"plain": plain_folder}) as service:
        assert not service.get("/v1/models").json["models"][0]["explains"]
        assert "cannot say why" in service.suggest(TEXT, explain=True).problem
        assert service.suggest(TEXT).status == 200

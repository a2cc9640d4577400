"""Annif's API, asked by Annif's own client, unchanged."""

from __future__ import annotations

import json

import pytest
from annif_client import AnnifClient

from serving import Served
from treetop.methods.xr_linear import XRLinear

TEXT = "topic1 word1x2x0 word1x3x1"


@pytest.fixture
def annif(service: Served) -> AnnifClient:
    return AnnifClient(f"{service.url}/v1/")


def test_projects(annif: AnnifClient) -> None:
    assert annif.api_info["title"].startswith("Annif REST API")
    assert [project["project_id"] for project in annif.projects] == ["toy", "plain"]
    project = annif.get_project("toy")
    assert project["backend"] == {"backend_id": "xr-linear"}
    assert project["is_trained"]
    assert project["vocab"]["size"] == 42
    with pytest.raises(ValueError, match="did you mean 'toy'"):
        annif.get_project("tpy")


def test_suggestions_are_those_of_the_model(annif: AnnifClient, calibrated: XRLinear) -> None:
    found = annif.suggest("toy", TEXT, limit=4)
    own = calibrated.predict([TEXT], 4)[0]
    assert [one["uri"] for one in found] == [one.label for one in own]
    assert [one["label"] for one in found] == [f"About {one.label}" for one in own]
    assert [one["score"] for one in found] == pytest.approx([one.score for one in own], abs=1e-6)
    assert all(one["score"] >= 0.3 for one in annif.suggest("toy", TEXT, threshold=0.3))
    assert annif.suggest("toy", TEXT, limit=0) == []
    with pytest.raises(ValueError, match="no model"):
        annif.suggest("none", TEXT)


def test_batches(annif: AnnifClient) -> None:
    documents = [{"text": TEXT, "document_id": "one"}, {"text": ""}]
    first, second = annif.suggest_batch("toy", documents, limit=2)
    assert first["document_id"] == "one"
    assert first["results"] == annif.suggest("toy", TEXT, limit=2)
    assert second["document_id"] is None
    with pytest.raises(OSError, match="422"):
        annif.suggest_batch("toy", documents * 17)


def test_learning(annif: AnnifClient, service: Served) -> None:
    subjects = [{"uri": "<label 1-1>", "label": "x"}, {"uri": "http://example.org/new"}]
    assert annif.learn("plain", [{"text": "learn this", "subjects": subjects}]).status_code == 204
    assert service.service.keeper is not None
    lines = (service.service.keeper.folder / "plain" / "train-00001.jsonl").read_text().splitlines()
    kept = next(line for line in map(json.loads, lines) if line["text"] == "learn this")
    assert kept["labels"] == ["label 1-1", "http://example.org/new"]

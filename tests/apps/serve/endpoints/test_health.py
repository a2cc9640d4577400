"""Health."""

from __future__ import annotations

from serving import Served


def test_the_models_that_answer(service: Served) -> None:
    health = service.get("/health")
    assert health.status == 200
    assert health.json["status"] == "UP"
    versions = {model["name"]: model["version"] for model in health.json["models"]}
    assert versions == {model.name: model.version for model in service.service.shelf}
    assert all(model["seconds"] >= 0 for model in health.json["models"])

"""Label search over HTTP."""

from __future__ import annotations

from serving import Served


def test_labels_are_found_by_name_and_text(service: Served) -> None:
    found = service.get("/v1/labels?query=LABEL%202-&limit=3").json["labels"]
    assert len(found) == 3
    assert all(label["label"].startswith("label 2-") for label in found)
    assert found == sorted(found, key=lambda label: -label["frequency"])
    assert service.get("/v1/labels?query=about&limit=1000").json["labels"][41]["text"].startswith("About")
    assert service.get("/v1/labels?query=about&model=plain").json == {"labels": []}


def test_an_unknown_model(service: Served) -> None:
    answer = service.get("/v1/labels?model=none")
    assert (answer.status, answer.json["field"]) == (404, "model")

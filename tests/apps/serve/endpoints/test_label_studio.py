"""Label Studio's ML backend, with requests as its server sends them."""

from __future__ import annotations

import json
from typing import Any

from serving import Served

CONFIG = """<View><Text name="text" value="$text"/>
<Choices name="label" toName="text" choice="multiple"><Choice value="label 1-2"/><Choice value="label 1-3"/>
<Choice value="not in the model"/></Choices></View>"""
FREE = """<View><Text name="t" value="$text"/><Taxonomy name="tax" toName="t" apiUrl="https://example.org"/></View>"""
CHOSEN = {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": ["label 1-3"]}}
TEXT = "topic1 word1x2x0 word1x2x1 word1x2x2"


def request(config: str, *texts: str) -> dict[str, Any]:
    tasks = [
        {"id": 7 + n, "data": {"text": text}, "meta": {}, "created_at": "2026-01-01T00:00:00Z", "predictions": []}
        for n, text in enumerate(texts)
    ]
    params = {"login": None, "password": None, "context": None}
    return {"tasks": tasks, "model_version": None, "project": "3.1700000000", "label_config": config, "params": params}


def test_health_and_setup(service: Served) -> None:
    assert service.get("/health").json["status"] == "UP"
    body = {"project": "3.17", "schema": CONFIG, "hostname": "http://localhost:8080", "access_token": "x"}
    assert service.post("/setup", body).json == {"model_version": service.service.shelf[None].version}
    assert service.post("/setup", body | {"schema": "<View/>"}).status == 422


def test_predictions_are_among_the_choices(service: Served) -> None:
    first, second = service.post("/predict", request(CONFIG, TEXT, "")).json["results"]
    assert first["model_version"] == service.service.shelf[None].version
    (entry,) = first["result"]
    assert (entry["from_name"], entry["to_name"], entry["type"]) == ("label", "text", "choices")
    assert entry["value"]["choices"][0] == "label 1-2"
    assert set(entry["value"]["choices"]) <= {"label 1-2", "label 1-3"}
    assert 0 < first["score"] <= 1
    assert isinstance(second["result"], list)


def test_a_taxonomy_that_lists_nothing_takes_all_labels(service: Served) -> None:
    (found,) = service.post("/predict", request(FREE, TEXT)).json["results"]
    assert found["result"][0]["value"]["taxonomy"][0] == ["label 1-2"]


def test_tasks_without_the_text(service: Served) -> None:
    body = request(CONFIG, TEXT)
    body["tasks"][0]["data"] = {"other": "x"}
    answer = service.post("/predict", body)
    assert (answer.status, answer.json["field"]) == (422, "tasks.data.text")


def test_annotations_become_feedback(service: Served) -> None:
    event = {
        "action": "ANNOTATION_CREATED",
        "task": {"id": 7, "data": {"text": "annotated text"}},
        "annotation": {
            "id": 1, "completed_by": 5, "was_cancelled": False,
            "result": [CHOSEN],
        },
        "project": {"id": 3, "title": "t", "label_config": CONFIG},
    }  # fmt: skip
    answer = service.post("/webhook", event)
    assert (answer.status, answer.json) == (201, {"status": "ok", "kept": 1})
    assert service.post("/webhook", {"action": "PROJECT_UPDATED", "project": {"id": 3}}).json["kept"] == 0
    assert service.service.keeper is not None
    lines = (service.service.keeper.folder / "toy" / "train-00001.jsonl").read_text().splitlines()
    kept = next(line for line in map(json.loads, lines) if line["text"] == "annotated text")
    assert (kept["labels"], kept["user"]) == (["label 1-3"], "5")

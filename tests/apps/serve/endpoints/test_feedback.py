"""Feedback over HTTP becomes training data."""

from __future__ import annotations

import json
from pathlib import Path

import treetop
from serving import Served, served
from treetop.apps.serve.settings import Settings

GIVEN = {"text": "a text", "model": "toy", "accepted": ["label 1-1"], "rejected": ["label 1-2"], "added": ["new one"]}


def test_what_is_kept(service: Served) -> None:
    answer = service.post("/v1/feedback", GIVEN | {"user": "ada"})
    assert answer.status == 201
    assert service.service.keeper is not None
    folder = service.service.keeper.folder / "toy"
    last = json.loads((folder / "train-00001.jsonl").read_text().splitlines()[-1])
    assert last.pop("time").startswith("20")
    assert last == GIVEN | {
        "id": answer.json["id"], "labels": ["label 1-1", "new one"], "user": "ada",
        "version": service.service.shelf["toy"].version,
    }  # fmt: skip


def test_it_is_read_as_training_data(plain_folder: Path, tmp_path: Path) -> None:
    with served({"plain": plain_folder}, Settings(port=0, threads=1, feedback=tmp_path)) as service:
        for number in range(3):
            assert service.post("/v1/feedback", GIVEN | {"text": f"text {number}", "model": "plain"}).status == 201
    first = tmp_path / "plain" / "train-00001.jsonl"
    lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(lines[0])
    first.with_name("train-00002.jsonl").write_bytes(b"".join(lines[1:]))
    data = treetop.read(tmp_path / "plain", split="train")
    assert list(data.corpus.texts) == ["text 0", "text 1", "text 2"]
    assert sorted(data.space.names) == ["label 1-1", "new one"]


def test_a_service_that_keeps_none(plain_folder: Path) -> None:
    with served({"plain": plain_folder}) as service:
        answer = service.post("/v1/feedback", {"text": "a text"})
        assert answer.status == 403
        assert "--feedback" in answer.problem

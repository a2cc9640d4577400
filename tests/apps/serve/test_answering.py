"""A model with an encoder: queued, batched, timed, refused when there is too much, dropped when nobody cares."""

from __future__ import annotations

import gc
import http.client
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import tiny_methods
from serving import Answer, Served, served, until
from treetop.apps.serve.settings import Settings
from treetop.data import Dataset
from treetop.runtime import Runtime

SETTINGS = Settings(port=0, threads=1, feedback=None, queue=8, token_budget=256)


@pytest.fixture(scope="module")
def encoder_folder(toy_train: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served") / "encoder"
    tiny_methods.recursive()(Runtime(threads=1)).fit(toy_train).save(path)
    return path


@pytest.fixture
def busy(encoder_folder: Path, model_folder: Path) -> Iterator[Served]:
    with served({"encoder": encoder_folder, "toy": model_folder}, SETTINGS) as service:
        yield service


class Gate:
    """Holds up the encoder's thread."""

    def __init__(self, service: Served) -> None:
        self.arrived, self.open = threading.Event(), threading.Event()
        model = service.service.shelf["encoder"].model
        predict = model.predict

        def held(*arguments: Any, **options: Any) -> Any:
            self.arrived.set()
            assert self.open.wait(60)
            return predict(*arguments, **options)

        model.predict = held  # type: ignore[method-assign]


def test_many_at_once_get_what_each_would_get_alone(busy: Served, toy_test: Dataset) -> None:
    texts = toy_test.corpus.texts[:8]
    alone = [busy.suggest(text).json["results"] for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = [answer.json["results"] for answer in pool.map(busy.suggest, texts)]
    for one, other in zip(alone, together, strict=True):
        labels = [[s["label"] for s in one[0]["suggestions"]], [s["label"] for s in other[0]["suggestions"]]]
        assert labels[0][:3] == labels[1][:3]
    figures = busy.get("/metrics").body.decode()
    for stage in ("queue", "tokenise", "encode", "rank", "request"):
        count = next(
            line for line in figures.splitlines() if line.startswith(f'treetop_seconds_count{{stage="{stage}"')
        )
        assert float(count.split()[-1]) > 0, stage


def test_too_much_is_refused_while_others_are_answered(busy: Served) -> None:
    gate = Gate(busy)
    with ThreadPoolExecutor(16) as pool:
        first = pool.submit(busy.suggest, "topic1")
        assert gate.arrived.wait(60)
        more = [pool.submit(busy.suggest, f"topic{n % 6}") for n in range(12)]
        refused = busy.service.watch.counts
        until(lambda: refused.total(("requests", "/v1/suggest", 429)) >= 5)
        assert busy.suggest("topic1", model="toy").status == 200  # a linear model does not wait for an encoder
        assert busy.get("/health").status == 200
        gate.open.set()
        answers: list[Answer] = [future.result() for future in [first, *more]]
    statuses = sorted(answer.status for answer in answers)
    assert statuses == [200] * 8 + [429] * 5
    for answer in answers:
        if answer.status == 429:
            assert int(answer.headers["retry-after"]) >= 1
            assert "come back" in answer.problem


def test_whoever_leaves_is_not_answered(busy: Served, caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate(busy)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(busy.suggest, "topic1")
        assert gate.arrived.wait(60)
        leaving = http.client.HTTPConnection(urlsplit(busy.url).netloc)
        body = json.dumps({"texts": ["topic2"]})
        leaving.request("POST", "/v1/suggest", body, {"content-type": "application/json"})
        queue = busy.service.encoding
        until(lambda: queue.waiting == 2)
        leaving.close()
        until(lambda: all(piece.gone for piece in queue._pieces))
        gate.open.set()
        assert first.result().status == 200
    until(lambda: queue.waiting == 0)
    assert busy.service.watch.counts.total(("texts", "encoder")) == 1
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_a_request_that_waits_too_long_is_told_to_come_back(encoder_folder: Path) -> None:
    with served({"encoder": encoder_folder}, replace(SETTINGS, deadline=0.2)) as service:
        gate = Gate(service)
        answer = service.suggest("topic1")
        gate.open.set()
    assert answer.status == 429
    assert "no time" in answer.problem

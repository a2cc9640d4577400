"""Figures for Prometheus."""

from __future__ import annotations

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from serving import Served, served
from treetop.apps.serve.settings import Settings


def figures(service: Served) -> dict[tuple[str, ...], float]:
    text = service.get("/metrics").body.decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def test_what_is_watched(model_folder: Path) -> None:
    with served({"toy": model_folder}, Settings(port=0, threads=1, feedback=None)) as service:
        for text in ("topic1 word1x2x0", "words that nobody knows", "topic2"):
            service.suggest(text)
        service.raw("POST", "/v1/suggest", b"")
        found = figures(service)
        model = service.service.shelf["toy"]
    assert found["treetop_requests_total", "/v1/suggest", "200"] == 3
    assert found["treetop_requests_total", "/v1/suggest", "415"] == 1
    assert found["treetop_texts_total", "toy"] == 3
    assert found["treetop_judged_texts_total", "toy"] == 3
    assert found["treetop_texts_without_known_words_total", "toy"] == 1
    assert found["treetop_top_probability_texts_total", "toy"] == 3
    assert 0 < found["treetop_top_probability_sum_total", "toy"] <= 3
    assert found["treetop_seconds_count", "rank"] == 3
    assert found["treetop_model", "toy", model.version] == 1
    assert found["treetop_workers_ready",] == 1
    assert model.model.calibration is not None
    assert found["treetop_calibration_top_probability", "toy"] == model.model.calibration.top_probability
    assert 0 < found["treetop_calibration_top_probability", "toy"] <= 1

"""`GET /metrics`: what is watched, as Prometheus reads it, of all workers together."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from treetop.apps.serve.endpoint import Call, Endpoint, Plain
from treetop.apps.serve.service import Service
from treetop.apps.serve.watch import STAGES, STATUSES

__all__ = ["ENDPOINT"]

_KIND = "text/plain; version=0.0.4; charset=utf-8"


async def metrics(call: Call, _asked: None) -> Plain:
    """Requests, texts, seconds by stage, the queue, what was refused, models, memory, and signs of drift."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(call.service))
    return Plain(generate_latest(registry), _KIND)


class _Collector:
    def __init__(self, service: Service) -> None:
        self.service, self.counts = service, service.watch.counts

    def collect(self) -> Iterator[Metric]:
        """All there is to tell."""
        yield from self._requests()
        yield from self._process()
        yield from self._models()
        yield from self._drift()

    def _requests(self) -> Iterator[Metric]:
        answered = CounterMetricFamily("treetop_requests", "Requests by path and status.", labels=["path", "status"])
        refused = 0.0
        for path in self.service.watch.paths:
            for status in STATUSES:
                count = self.counts.total(("requests", path, status))
                refused += count if status == 429 else 0
                if count:
                    answered.add_metric([path, str(status)], count)
        yield answered
        yield CounterMetricFamily("treetop_refused", "Requests that were told to come back later.", value=refused)
        seconds = HistogramMetricFamily("treetop_seconds", "Seconds by stage of a request.", labels=["stage"])
        for stage in STAGES:
            buckets = list(self.service.watch.histogram(stage))
            seconds.add_metric([stage], buckets, self.counts.total(("spent", stage)))
        yield seconds

    def _process(self) -> Iterator[Metric]:
        for name, column, about in (
            ("treetop_queued_texts", "queued", "Texts that wait for a model."),
            ("treetop_workers_ready", "ready", "Workers that answer."),
            ("treetop_memory_bytes", "memory", "Resident memory of all workers; what they share counts in each."),
        ):
            yield GaugeMetricFamily(name, about, value=self.counts.total(column))

    def _models(self) -> Iterator[Metric]:
        info = GaugeMetricFamily("treetop_model", "1 for the version that is served.", labels=["model", "version"])
        since = GaugeMetricFamily(
            "treetop_model_loaded_seconds", "When the oldest worker loaded it, since 1970.", labels=["model"]
        )
        texts = CounterMetricFamily("treetop_texts", "Texts that got labels.", labels=["model"])
        for model in self.service.shelf:
            info.add_metric([model.name, model.version], 1)
            loaded = [value for value in self.counts.each(("since", model.name)) if value]
            since.add_metric([model.name], min(loaded, default=0))
        for name in self.service.watch.models:
            texts.add_metric([name], self.counts.total(("texts", name)))
        yield from (info, since, texts)

    def _drift(self) -> Iterator[Metric]:
        counted = (
            ("treetop_judged_texts", "judged", "Texts that were looked at for known words."),
            ("treetop_texts_without_known_words", "unknown", "Of these, texts without a single known word."),
            ("treetop_top_probability_texts", "tops", "Texts whose best label has a probability."),
            ("treetop_top_probability_sum", "top", "The probabilities of these labels, added up."),
        )
        for name, column, about in counted:
            family = CounterMetricFamily(name, about, labels=["model"])
            for model in self.service.watch.models:
                family.add_metric([model], self.counts.total((column, model)))
            yield family
        expected = GaugeMetricFamily(
            "treetop_calibration_top_probability", "The mean that the calibration data showed.", labels=["model"]
        )
        for served in self.service.shelf:
            calibration = served.model.calibration
            if calibration is not None and calibration.top_probability is not None:
                expected.add_metric([served.name], calibration.top_probability)
        yield expected


ENDPOINT = Endpoint("GET", "/metrics", metrics, "Figures for Prometheus", plain="text/plain")

"""What is watched of a service: requests, texts, seconds by stage, what was refused, and signs that texts have changed.

Two signs of drift are counted for each model, to be compared with what its calibration data showed: texts without a
single known word, and the probability of the best label.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path

from treetop.apps.serve.counts import Counts

__all__ = ["GAUGES", "SECONDS", "STAGES", "STATUSES", "Watch", "columns"]

STAGES = ("queue", "tokenise", "encode", "rank", "request")
"""Waiting for the encoder, its tokens, the encoder, the ranking, and all of it together."""
SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper ends of the histograms' buckets; one more is without end."""
STATUSES = (200, 201, 204, 400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 503)
GAUGES = ("ready", "queued", "memory", "started")
OF_MODELS = ("texts", "unknown", "judged", "top", "tops", "since")


def columns(paths: Sequence[str], models: Sequence[str]) -> list[Hashable]:
    """All that is counted, in an order that every process agrees on."""
    found: list[Hashable] = [*GAUGES]
    found += [("requests", path, status) for path in paths for status in STATUSES]
    found += [("seconds", stage, bucket) for stage in STAGES for bucket in range(len(SECONDS) + 1)]
    found += [("spent", stage) for stage in STAGES]
    return [*found, *((what, model) for model in models for what in OF_MODELS)]


class Watch:
    """Counts what one process does."""

    def __init__(self, table: Path, paths: Sequence[str], models: Sequence[str], worker: int = 0) -> None:
        self.paths, self.models = paths, models
        self.counts = Counts(table, columns(paths, models), worker)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """A request has got its answer."""
        if status in STATUSES:
            self.counts.add(("requests", path, status))
        self.took("request", seconds)

    def took(self, stage: str, seconds: float) -> None:
        """A stage of a request, or of a batch of them, has ended."""
        self.counts.add(("seconds", stage, bisect_left(SECONDS, seconds)))
        self.counts.add(("spent", stage), seconds)

    def suggested(self, model: str, texts: int) -> None:
        """So many texts have got labels."""
        self.counts.add(("texts", model), texts)

    def known_words(self, model: str, texts: int, unknown: int) -> None:
        """Of so many texts some have no word that the model knows."""
        self.counts.add(("judged", model), texts)
        self.counts.add(("unknown", model), unknown)

    def best(self, model: str, texts: int, together: float) -> None:
        """The probabilities of the best labels of so many texts."""
        self.counts.add(("tops", model), texts)
        self.counts.add(("top", model), together)

    def histogram(self, stage: str) -> Iterator[tuple[str, float]]:
        """The requests up to each end, as Prometheus has it: every bucket holds the ones before."""
        total = 0.0
        for bucket, end in enumerate([*map(str, SECONDS), "+Inf"]):
            total += self.counts.total(("seconds", stage, bucket))
            yield end, total

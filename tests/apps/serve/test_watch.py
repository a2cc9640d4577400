"""What is counted."""

from __future__ import annotations

from treetop.apps.serve.counts import make_table
from treetop.apps.serve.watch import SECONDS, Watch, columns


def test_requests_texts_and_seconds() -> None:
    table = make_table(1, len(columns(["/a"], ["m"])))
    watch = Watch(table, ["/a"], ["m"])
    table.unlink()
    watch.answered("/a", 200, 0.003)
    watch.answered("/a", 200, 99.0)
    watch.answered("/a", 0, 0.0)  # a client that has gone is no answer
    watch.suggested("m", 3)
    watch.known_words("m", 3, 1)
    assert watch.counts.total(("requests", "/a", 200)) == 2
    assert watch.counts.total(("texts", "m")) == 3
    assert watch.counts.total(("unknown", "m")) == 1
    buckets = dict(watch.histogram("request"))
    assert list(buckets) == [*map(str, SECONDS), "+Inf"]
    assert (buckets["0.0001"], buckets["0.0025"], buckets["0.005"], buckets["30.0"], buckets["+Inf"]) == (1, 1, 2, 2, 3)

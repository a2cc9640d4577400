"""The figures of every label in the page."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

from treetop.apps.report import Report
from treetop.apps.report.packed import pack, packed_labels


def unpack(packed: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def test_columns_are_those_of_the_report(report: Report) -> None:
    found = unpack(packed_labels(report))
    labels = report.parts[1].labels
    assert found["names"] == list(report.field.dataset.space.names)
    assert found["true"] == labels.true.tolist()
    assert found["models"][1]["suggested"] == labels.suggested.tolist()
    assert found["models"][1]["right"] == labels.right.tolist()
    confused = found["models"][1]["confused"]
    assert confused
    for row, others in confused.items():
        assert [other for other in labels.confused.labels[int(row)].tolist() if other >= 0] == others
    assert found["learned"] == np.asarray(report.field.frequency).tolist()


def test_any_word_survives() -> None:
    words = ["</script>", "日本", "\ud800", '"']
    assert json.loads(zlib.decompress(base64.b64decode(pack(words))).decode("utf-8", "surrogatepass")) == words

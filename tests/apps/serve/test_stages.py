"""Seconds by stage, overheard."""

from __future__ import annotations

from dataclasses import replace

import pytest

from treetop.apps.serve.stages import Stages
from treetop.runtime import Runtime


def test_what_is_left_is_the_ranking() -> None:
    stages, now = Stages(), [0.0]
    stages.clock = lambda: now[0]
    runtime = replace(Runtime(), progress=stages)
    begun = stages.begin()
    for title, seconds in (("tokenise", 2), ("embed", 3), ("embed", 4), ("something else", 9)):
        with runtime.bar(title, 1):
            now[0] += seconds
    spent = stages.end(begun)
    assert spent == {"tokenise": 2, "encode": 7, "rank": pytest.approx(0, abs=5)}
    stages.begin()
    assert set(stages.end(begun)) == {"rank"}

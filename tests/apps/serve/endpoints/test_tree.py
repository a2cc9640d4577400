"""The label tree over HTTP."""

from __future__ import annotations

from serving import Served


def test_from_the_root_to_a_label(service: Served) -> None:
    here = service.get("/v1/tree").json
    assert sum(child["labels"] for child in here["children"]) == 42
    while here["children"][0]["node"] is not None:
        here = service.get(f"/v1/tree?node={here['children'][0]['node']}").json
    label = here["children"][0]["examples"][0]["label"]
    assert label in service.service.shelf[None].model.space.index


def test_nodes_that_are_not(service: Served) -> None:
    assert "no such node" in service.get("/v1/tree?node=7-7").problem

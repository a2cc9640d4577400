"""The list of models."""

from __future__ import annotations

from serving import Served


def test_models_in_the_order_in_which_they_were_given(service: Served) -> None:
    toy, plain = service.get("/v1/models").json["models"]
    assert toy == {
        "name": "toy", "version": service.service.shelf["toy"].version, "method": "xr-linear", "labels": 42,
        "trained_texts": 400, "calibrated": True, "kind": "probability", "thresholds": True,
        "explains": service.service.shelf["toy"].explains,
    }  # fmt: skip
    assert (plain["name"], plain["calibrated"], plain["kind"], plain["thresholds"]) == ("plain", False, "score", False)

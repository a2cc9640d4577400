"""All figures of a report in one place."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from treetop.apps.measure import figures_of
from treetop.apps.report import Report


def test_figures_are_those_of_evaluate_and_compare(report: Report) -> None:
    one = report.field.contenders[0]
    direct = figures_of(one.predictions, report.field.dataset, model=one.model)
    found = report.flat()
    for name, value in direct.metrics.items():
        assert found["metrics"][name]["values"]["calibrated"] == pytest.approx(value)
    assert found["models"][0]["calibration"] == pytest.approx(direct.calibration)
    assert found["data"]["texts"] == 120


def test_all_of_it_is_json(report: Report) -> None:
    found = json.loads(json.dumps(report.flat(), allow_nan=False))
    calibrated, poor, saved = found["models"]
    assert calibrated["reliability"]
    assert [one["aim"] for one in calibrated["chosen_thresholds"]][:1] == ["f1"]
    assert poor["chosen_thresholds"] == []
    assert "method" not in saved
    assert found["remarks"] == ["the models learned from different numbers of texts (calibrated 250, poor 40)"]


def test_on_dev_texts_it_says_that_they_may_have_served_for_calibration(report: Report) -> None:
    dev = replace(report, data=report.data | {"split": "dev"})
    (told,) = set(dev.remarks()) - set(report.remarks())
    assert told == "probabilities and thresholds of calibrated may have been learned from these dev texts"
    assert replace(dev, parts=dev.parts[1:]).remarks() == report.remarks()

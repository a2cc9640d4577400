"""Accepted suggestions, curves over thresholds, and what chosen thresholds do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from treetop.apps.comparing import Field
from treetop.apps.report.decisions import AIMS, accepted, can_be_cut, chosen, curve_of
from treetop.metrics import at_threshold


def test_a_calibrated_model_accepts_by_its_threshold_and_others_by_number(field: Field) -> None:
    calibrated, poor, _ = field.contenders
    assert calibrated.model is not None
    assert calibrated.model.calibration is not None
    cut = calibrated.model.calibration.threshold("f1")
    taken = accepted(calibrated, field)
    assert (taken.predictions.labels >= 0).sum() == (calibrated.predictions.scores >= cut).sum()
    assert accepted(poor, field).predictions.k == round(field.dataset.labels.nnz / len(field.dataset)) == 2


def test_chosen_thresholds_have_the_figures_of_evaluation(field: Field) -> None:
    calibrated, poor, saved = field.contenders
    found = chosen(calibrated, field)
    assert [one.aim for one in found] == list(AIMS)
    assert found[0].cut is not None
    assert found[0].figures == at_threshold(calibrated.predictions, field.dataset, found[0].cut)
    assert found[2].cut is None
    assert 0 < found[2].figures["recall"] <= 1
    assert chosen(poor, field) == chosen(saved, field) == []


@pytest.mark.parametrize("step", [4, 29, 69])
def test_a_curve_tells_what_evaluation_at_a_threshold_tells(field: Field, step: int) -> None:
    one = field.contenders[0]
    curve = curve_of(one, field)
    direct = at_threshold(one.predictions, field.dataset, curve["threshold"][step])
    assert {name: curve[name][step] for name in direct} == pytest.approx(direct)


def test_nothing_passes_a_threshold_above_all_scores(field: Field) -> None:
    low = replace(field.contenders[0].predictions, scores=field.contenders[0].predictions.scores * np.float32(0.5))
    curve = curve_of(replace(field.contenders[0], predictions=low), field)
    assert (curve["recall"][-1], curve["precision"][-1], curve["labels_per_text"][-1]) == (0, 1, 0)


def test_scores_that_are_no_shares_have_no_curve(field: Field) -> None:
    one = field.contenders[0]
    margins = replace(one.predictions, scores=one.predictions.scores - np.float32(2), kind="margin")
    assert not can_be_cut(margins)
    assert curve_of(replace(one, predictions=margins), field) == {}

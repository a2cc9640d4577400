"""Figures of every label."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from treetop.apps.comparing import Field
from treetop.apps.report import Report
from treetop.apps.report.decisions import accepted
from treetop.apps.report.labelwise import label_figures, write_labels
from treetop.metrics import at_threshold


def test_figures_add_up_to_those_of_all_labels(field: Field) -> None:
    one = field.contenders[0]
    found, cut = label_figures(one, field), accepted(one, field)
    whole = at_threshold(cut.predictions, field.dataset, 0.0)
    assert found.right.sum() / found.suggested.sum() == pytest.approx(whole["precision"])
    assert found.right.sum() / found.true.sum() == pytest.approx(whole["recall"])
    assert np.nanmean(np.where(found.true > 0, found.f1, np.nan)) == pytest.approx(whole["macrof1"])
    assert found.true.tolist() == field.dataset.frequency.tolist()


def test_a_table_has_a_row_for_each_label_that_occurs(report: Report, field: Field) -> None:
    file = io.StringIO()
    write_labels(file, field, [part.labels for part in report.parts])
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert {row["model"] for row in rows} == {"calibrated", "poor", "saved.csv"}
    first = next(row for row in rows if row["model"] == "poor")
    label = field.dataset.space.index[first["label"]]
    assert int(first["texts"]) == field.dataset.frequency[label] > 0
    assert float(first["recall"]) == pytest.approx(int(first["right"]) / int(first["texts"]), abs=1e-4)
    assert any(row["confused_with"] for row in rows)
    assert any(row["precision"] == "" for row in rows if row["suggested"] == "0")

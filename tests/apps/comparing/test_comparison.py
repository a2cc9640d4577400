"""Values, errors and verdicts of a comparison."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from treetop.apps.comparing import Field, compare
from treetop.apps.measure import figures_of
from treetop.errors import ConfigError
from treetop.metrics import paired_difference


def test_figures_are_those_of_evaluate(field: Field) -> None:
    found, good = compare(field), field.contenders[0]
    alone = figures_of(good.predictions, field.dataset, model=good.model)
    assert {name: line.values[0] for name, line in found.metrics.items()} == pytest.approx(alone.metrics)
    assert {band: line.values[0] for band, line in found.bands.items()} == {
        band: values["found@5"] for band, values in alone.bands.items() if values["pairs"]
    }


def test_differences_are_paired_and_real_ones_are_told(field: Field) -> None:
    line = compare(field).metrics["p@3"]
    good, poor, _ = field.contenders
    by_hand = paired_difference(good.predictions, poor.predictions, field.dataset.labels, "p@3")
    verdict = line.against(0, 1)
    assert verdict is not None
    assert (verdict.value, verdict.standard_error) == pytest.approx(by_hand)
    assert verdict.real
    turned = line.against(1, 0)
    assert turned is not None
    assert (turned.value, turned.mark) == (-verdict.value, "▼")
    same = line.against(0, 2)
    assert same is not None
    assert (same.value, same.mark) == (0, "≈")
    assert (line.best, line.as_good) == (0, [2])


def test_metrics_over_labels_have_values_without_errors(field: Field) -> None:
    line = compare(field, ["macrof1@5", "p@1"]).metrics["macrof1@5"]
    assert line.values[0] > line.values[1]
    assert line.errors == (None, None, None)
    assert line.against(0, 1) is None


def test_files_alone_have_no_frequencies(field: Field) -> None:
    alone = replace(field, contenders=field.contenders[2:])
    found = compare(alone)
    assert "psp@1" not in found.metrics
    assert found.bands == {}
    with pytest.raises(ConfigError, match="training texts are not known"):
        compare(alone, benchmark="amazon-670k")


def test_remarks_say_what_figures_hide(field: Field) -> None:
    assert compare(field).remarks() == ["the models learned from different numbers of texts (good 400, poor 40)"]
    seen = replace(field, contenders=(replace(field.contenders[0], seen=0.25),))
    assert compare(seen).remarks()[0].startswith("25 % of these texts are among the training texts of good;")
    few = replace(field, contenders=(replace(field.contenders[0], seen=0.001),))
    assert not compare(few).remarks()


def test_programs_get_plain_numbers(field: Field) -> None:
    one_text = replace(
        field,
        dataset=field.dataset.take([0]),
        contenders=tuple(replace(one, predictions=one.predictions[:1]) for one in field.contenders),
    )
    found = json.loads(json.dumps(compare(one_text).flat(), allow_nan=False))
    assert found["metrics"]["p@1"]["standard_errors"] == {"good": None, "poor": None, "saved.csv": None}
    assert len(found["metrics"]["p@1"]["differences"]) == 3
    assert found["contenders"][2]["cost"]["model_bytes"] is None

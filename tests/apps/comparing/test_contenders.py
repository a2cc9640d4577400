"""Who is compared: models and files, on the same texts and with the same label numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import treetop
from treetop.apps.comparing import Field, Wanted, line_up
from treetop.data import Dataset
from treetop.errors import ConfigError, DataError
from treetop.runtime import Runtime

QUIET = Runtime(threads=1)


def test_labels_have_one_number_whoever_suggests_them(field: Field, home: Path) -> None:
    good, poor, saved = field.contenders
    assert good.predictions.names == poor.predictions.names == saved.predictions.names == field.dataset.space.names
    for one in (good, poor):
        assert one.model is not None
        assert list(one.predictions)[:5] == list(one.model.predict(field.dataset, 10))[:5]
    assert np.array_equal(saved.predictions.labels, good.predictions.labels)


def test_what_models_cost_is_known_and_of_files_it_is_not(field: Field) -> None:
    good, _, saved = field.contenders
    assert good.cost.model_bytes is not None
    assert good.cost.model_bytes > 1000
    assert good.cost.texts_per_second is not None
    assert (good.seen, saved.seen, saved.cost.train_seconds) == (0, None, None)


def test_frequencies_are_those_of_the_first_model(field: Field, toy_train: Dataset) -> None:
    found = field.frequency
    assert found is not None
    assert {name: found[number] for name, number in field.dataset.space.index.items()} == dict(
        zip(toy_train.space.names, toy_train.frequency, strict=True)
    )


def test_names_are_as_long_as_they_must_be(home: Path, tmp_path: Path) -> None:
    treetop.load(home / "poor").save(tmp_path / "other" / "good")
    paths = [home / "good", tmp_path / "other" / "good"]
    found = line_up(paths, Wanted(home / "test.jsonl"), 5, QUIET)
    assert [one.name for one in found.contenders] == [f"{home.name}/good", "other/good"]


def test_a_label_that_only_one_model_knows_gets_a_number_behind_the_others(home: Path, tmp_path: Path) -> None:
    treetop.XRLinear().fit(["topic1 word1x1x1", "quite else"], [["label 1-1"], ["never heard"]]).save(tmp_path / "odd")
    found = line_up([home / "good", tmp_path / "odd"], Wanted(home / "test.jsonl"), 2, QUIET)
    assert found.dataset.space.names[-1] == "never heard"
    assert "never heard" in {one.label for row in found.contenders[1].predictions for one in row}


def test_mistakes(home: Path, tmp_path: Path) -> None:
    wanted = Wanted(home / "test.jsonl")
    with pytest.raises(DataError, match="no such model folder"):
        line_up([tmp_path / "nothing"], wanted, 5, QUIET)
    with pytest.raises(ConfigError, match="neither a model folder nor predictions"):
        line_up([Path(__file__)], wanted, 5, QUIET)
    with pytest.raises(ConfigError, match="given twice"):
        line_up([home / "good", home / "." / "good"], wanted, 5, QUIET)
    (tmp_path / "bare.jsonl").write_text(json.dumps({"text": "a b", "labels": []}) + "\n")
    with pytest.raises(DataError, match="none of the 1 texts has a label"):
        line_up([home / "good"], Wanted(tmp_path / "bare.jsonl"), 5, QUIET)
    (tmp_path / "alien.jsonl").write_text(json.dumps({"text": "a b", "labels": ["x"]}) + "\n")
    with pytest.raises(DataError, match=r"good: none of its labels is a true label"):
        line_up([home / "good"], Wanted(tmp_path / "alien.jsonl"), 5, QUIET)
    (tmp_path / "alien.csv").write_text("text,label,score\n0,alien,1\n")
    with pytest.raises(DataError, match=r"alien\.csv: none of its labels"):
        line_up([tmp_path / "alien.csv"], wanted, 5, QUIET)

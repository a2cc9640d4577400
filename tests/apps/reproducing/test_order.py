from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shell import write_jsonl
from small_release import ordered
from tiny_methods import encoder
from treetop.apps.reproducing import order
from treetop.data import Dataset, LabelSpace
from treetop.errors import ConfigError, DataError
from treetop.runtime import Runtime


def test_one_encoder_for_all_makes_members_differ_by_their_seed(data: Path) -> None:
    nine = ordered("x-transformer-eurlex-4k", data).members
    assert [member.seed for member in nine] == [0, 1, 2] * 3
    assert {member.config.encoder.name for member in nine} == {encoder().name}
    assert {member.config.label_encoder for member in nine} == {"", encoder().name}
    assert [member.seed for member in ordered("cascadexml-wiki-500k", data).members] == [0, 1, 2]


def test_what_differs_from_the_paper_is_said(data: Path) -> None:
    wanted = ordered("cascadexml-wiki10-31k", data)
    first, share, scales, encoders = wanted.remarks
    assert first.startswith("these are not the data of Wiki10-31K: 400 texts and 42 labels, where it has 14,146")
    assert share.endswith("a share of 0.4")
    assert scales == "steps and levels of trees are scaled to these sizes"
    assert encoders == f"every encoder is {encoder().name}"
    assert wanted.members[0].config.layers == ()  # of an encoder with fewer layers than the paper's
    assert wanted.members[0].config.encoder.max_tokens == 32
    assert (wanted.train.frequency > 0).all()
    assert len(wanted.train) == pytest.approx(160, abs=30)


def test_what_cannot_be_made_is_refused_before_anything_is_trained(data: Path) -> None:
    with pytest.raises(ConfigError, match=r"no paper reports lightxml on amazon-3m; it is published for Eurlex-4K"):
        order("lightxml", "amazon-3m", data, runtime=Runtime())
    with pytest.raises(ConfigError, match="methods with published rows are cascadexml, lightxml"):
        order("xr-linear", "eurlex-4k", data, runtime=Runtime())
    with pytest.raises(ConfigError, match="scale is 2"):
        ordered("lightxml-eurlex-4k", data, scale=2.0)


def test_labels_that_are_numbers_have_no_text_to_read(tmp_path: Path, toy_train: Dataset) -> None:
    numbered = replace(toy_train, space=LabelSpace([str(number) for number in range(len(toy_train.space))]))
    for split in ("train", "test"):
        write_jsonl(tmp_path / f"{split}.jsonl", numbered)
    with pytest.raises(DataError, match=r"here labels are numbers; put labels\.txt"):
        ordered("x-transformer-eurlex-4k", tmp_path)
    assert len(ordered("x-transformer-eurlex-4k", tmp_path, single=True).members) == 1

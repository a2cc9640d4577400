from __future__ import annotations

import pytest

from conftest import planted
from named import KNOWN, NAMES, named_texts
from treetop.apps.calibrating import Naming, calibrated, choose_calibrating
from treetop.data import Dataset, LabelSpace
from treetop.errors import ConfigError
from treetop.methods.xr_linear import XRLinear
from treetop.metrics import expected_calibration_error
from treetop.sparse import from_parts


def test_on_dev_texts_unless_it_is_not_wanted(toy_train: Dataset, toy_test: Dataset) -> None:
    read: list[Dataset] = []

    def dev() -> Dataset:
        read.append(toy_test)
        return toy_test

    for wanted in (None, True):
        model = XRLinear()
        assert choose_calibrating("xr-linear", toy_train, dev, wanted, 0).fit(model) is None
        assert model.calibration is not None
    model = XRLinear()
    choose_calibrating("xr-linear", toy_train, dev, False, 0).fit(model)
    assert model.calibration is None
    assert len(read) == 2  # not read where it is not needed


def test_without_dev_texts_a_share_is_held_out_and_the_model_trained_again(toy_test: Dataset) -> None:
    train = planted(1000, seed=1)
    chosen = choose_calibrating("xr-linear", train, None, True, 0)
    assert len(chosen.train) == pytest.approx(800, abs=10)  # 200 texts, if there are few
    model = XRLinear()
    assert chosen.fit(model) is None
    assert model.calibration is not None
    assert model.training["texts"] == 1000
    assert model.calibration.evidence.texts == 1000 - len(chosen.train)
    assert (model.predict(toy_test).labels == XRLinear().fit(train).predict(toy_test).labels).all()
    assert expected_calibration_error(model.predict(toy_test), toy_test) < 0.02  # the map still holds
    assert choose_calibrating("xr-linear", train, None, None, 0).held_out is None  # nobody asked for twice the work


def test_names_are_learned_first_and_outlive_the_second_training() -> None:
    train, test = named_texts(1000, 1, KNOWN), named_texts(300, 2)
    chosen = choose_calibrating("xr-linear", train, None, None, 0, Naming(catalogue=LabelSpace(NAMES)))
    model = XRLinear()
    assert chosen.fit(model) is None
    assert model.training["texts"] == 1000
    assert model.naming is not None
    assert model.training["label_names"]["used"]
    assert model.space.names == (*train.space.names, *NAMES[24:])
    assert expected_calibration_error(model.predict(test), test) < 0.1
    plain = XRLinear()
    choose_calibrating("xr-linear", train, None, True, 0, Naming(wanted=False)).fit(plain)
    assert plain.naming is None
    assert plain.calibration is not None
    assert not plain.calibration.behind
    assert model.calibration is not None
    assert model.calibration.behind  # names count, so places do
    only = XRLinear()
    choose_calibrating("xr-linear", train, None, False, 0, Naming(catalogue=LabelSpace(NAMES))).fit(only)
    assert only.naming is not None
    assert only.calibration is None


def with_rare_labels() -> Dataset:
    """Texts of which every tenth has a label of its own, whose name it says."""
    data = named_texts(1000, 1)
    texts = [f"{text} rarity{row}" if row % 10 == 0 else text for row, text in enumerate(data.corpus.texts)]
    names = [[data.space.names[label] for label in data.labels[[row]].indices.tolist()] for row in range(len(data))]
    return Dataset.build(texts, [own + [f"rarity{row}"] * (row % 10 == 0) for row, own in enumerate(names)])


def test_labels_that_only_held_out_texts_have_are_not_known_beforehand() -> None:
    data = with_rare_labels()
    chosen = choose_calibrating("xr-linear", data, None, True, 0)
    assert chosen.held_out is not None
    assert chosen.train.frequency.all()
    assert len(chosen.train.space) < len(data.space)
    model, first = XRLinear(), XRLinear().fit(chosen.train)
    assert chosen.fit(model) is None
    first.learn_names(chosen.held_out()).calibrate(chosen.held_out())
    for one in (model, first):
        assert one.naming is not None
        assert one.calibration is not None
        assert not one.naming.unseen.any()
    assert model.space.names == data.space.names
    assert model.naming is not None
    assert model.naming.evidence("here is rarity10", "rarity10")  # whichever part it was in
    before, after = first.calibration.evidence, model.calibration.evidence  # type: ignore[union-attr]
    assert [first.space.names[label] for label in before.label] == [model.space.names[label] for label in after.label]
    number = [model.space.index[name] for name in first.space.names]
    assert after.true[number].tolist() == before.true[:-1].tolist()
    assert after.true.sum() == before.true.sum()
    assert len(model.calibration.band) == len(data.space)  # type: ignore[union-attr]


def test_labels_of_a_list_are_known_beforehand() -> None:
    texts = with_rare_labels()
    labels = from_parts(texts.labels.indptr, texts.labels.indices, texts.labels.data, columns=len(texts.space) + 1)
    listed = Dataset(texts.corpus, labels, texts.space.extended(["never"]))
    assert choose_calibrating("xr-linear", listed, None, True, 0).train.space == listed.space


def test_labels_that_could_not_be_suggested_are_refused(toy_train: Dataset) -> None:
    with pytest.raises(ConfigError, match="--labels-file is given with --no-names"):
        choose_calibrating("xr-linear", toy_train, None, None, 0, Naming(wanted=False, catalogue=LabelSpace(["a"])))


def test_a_model_with_an_encoder_is_trained_once(toy_train: Dataset) -> None:
    chosen = choose_calibrating("xr-transformer", toy_train, None, True, 0)
    assert chosen.held_out is not None
    assert chosen.again is None
    assert len(chosen.train) + len(chosen.held_out()) == len(toy_train)


def test_what_stands_in_the_way_is_told_and_the_model_is_kept(toy_train: Dataset, toy_test: Dataset) -> None:
    model = XRLinear().fit(toy_train)
    assert "too few" in (calibrated(model, toy_test.take(range(10))) or "")
    assert model.predict(toy_test).kind == "score"

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import planted
from named import KNOWN, NAMES, named_texts
from treetop import evaluate
from treetop.data import Corpus, Dataset, LabelSpace
from treetop.errors import DataError, NotFittedError
from treetop.methods import Method, load
from treetop.methods.ensemble import Ensemble, EnsembleConfig, choose
from treetop.methods.naming import with_catalogue
from treetop.methods.one_vs_all import OneVsAll
from treetop.methods.xr_linear import XRLinear
from treetop.metrics import expected_calibration_error
from treetop.predictions import Ask


@pytest.fixture(scope="module")
def train() -> Dataset:
    return named_texts(150, 1, KNOWN)


@pytest.fixture(scope="module")
def dev() -> Dataset:
    return named_texts(300, 2)


@pytest.fixture(scope="module")
def test() -> Dataset:
    return named_texts(300, 3)


@pytest.fixture(scope="module")
def named(train: Dataset, dev: Dataset) -> XRLinear:
    return XRLinear().fit(train).learn_names(dev, catalogue=NAMES)


def found_unseen(model: Method[Any], dataset: Dataset) -> float:
    """The share of true labels without training texts among the ten best."""
    true = [
        {dataset.space.names[label] for label in dataset.labels[[row]].indices.tolist()} for row in range(len(dataset))
    ]
    pairs = [(row, name) for row, names in enumerate(true) for name in names if name not in KNOWN]
    best = [{one.label for one in row} for row in model.predict(dataset, 10)]
    return float(np.mean([name in best[row] for row, name in pairs]))


def test_labels_without_training_texts_are_found_by_name(named: XRLinear, train: Dataset, test: Dataset) -> None:
    plain = XRLinear().fit(train)
    assert found_unseen(plain, test) == 0
    assert found_unseen(named, test) > 0.9
    assert evaluate(named.predict(test), test)["p@1"] > evaluate(plain.predict(test), test)["p@1"] + 0.2
    assert named.naming is not None
    assert named.training["label_names"]["best"] > named.training["label_names"]["without"]


def test_they_are_marked(named: XRLinear, train: Dataset) -> None:
    found = named.predict(["an amber engine beside a flint journal"], k=5)
    marks = {one.label: one.unseen for one in found[0]}
    assert marks["flint_journal"]
    assert not marks["amber_engine"]
    assert found.records()[0]["unseen"] == marks[found[0][0].label]
    assert found.to_frame()["unseen"].to_list() == [one.unseen for one in found[0]]
    assert "unseen" not in XRLinear().fit(train).predict(["amber"]).records()[0]


def test_nothing_changes_where_names_do_not_help(toy_train: Dataset, toy_test: Dataset) -> None:
    model = XRLinear().fit(toy_train).learn_names(planted(200, seed=3))
    assert model.naming is None
    assert not model.training["label_names"]["used"]
    assert model.predict(toy_test) == XRLinear().fit(toy_train).predict(toy_test)


@pytest.mark.parametrize("make", [XRLinear, OneVsAll, lambda: XRLinear(preset="parabel")])
def test_stored_copied_and_restricted(make: type[XRLinear], train: Dataset, dev: Dataset, tmp_path: Path) -> None:
    model = make().fit(train).learn_names(dev, catalogue=NAMES)
    before = model.predict(dev, k=7)
    model.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.predict(dev, k=7) == before
    for other in (pickle.loads(pickle.dumps(loaded)), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.predict(dev, k=7) == before
    loaded.save(tmp_path / "m")
    assert load(tmp_path / "m").predict(dev, k=7) == before
    only = ["flint_journal", "flint_island", "amber_engine"]
    chosen = model.predict(dev, k=3, labels=only)
    assert set(np.unique(chosen.labels[chosen.labels >= 0])) <= set(model.space.numbers(only))
    unseen = model.predict(["the flint journal"], labels=["flint_journal", "flint_island"])
    assert unseen[0][0].label == "flint_journal"
    np.testing.assert_array_equal(model.predict(dev, k=3).labels, before.labels[:, :3])  # k does not change the order


def test_scores_stay_between_zero_and_one(named: XRLinear, dev: Dataset) -> None:
    found = named.predict(dev)
    assert found.kind == "score"
    assert found.scores.min() >= 0
    assert found.scores.max() <= 1


def test_one_text_is_ranked_as_in_a_batch(named: XRLinear, dev: Dataset) -> None:
    batch = named.predict(dev, k=5)
    for row in range(20):
        alone = named.predict([dev.corpus.texts[row]], k=5)
        np.testing.assert_array_equal(alone.labels[0], batch.labels[row])


def test_probabilities_of_mixed_scores_hold(named: XRLinear, dev: Dataset, test: Dataset) -> None:
    model = copy.deepcopy(named).calibrate(dev)
    found = model.predict(test)
    assert found.kind == "probability"
    np.testing.assert_array_equal(found.labels, named.predict(test).labels)
    assert expected_calibration_error(found, test) < 0.03
    assert found.unseen is not None  # still marked
    model.learn_names(dev, catalogue=NAMES)
    assert model.calibration is None  # its scores are others now


def test_a_name_says_what_it_adds(named: XRLinear) -> None:
    assert named.naming is not None
    parts = named.naming.evidence("an amber engine", "amber_engine")
    assert {part.words for part in parts} == {"amber", "engine", "amber engine"}
    listed = named._predict(Corpus(["an amber engine"]), Ask(24))
    place = listed.labels[0].tolist().index(named.space.index["amber_engine"])
    found = named.predict(["an amber engine"], labels=["amber_engine"])[0][0]
    own = listed.scores[0, place] / named.naming.scale
    assert found.score == pytest.approx(own + sum(part.share for part in parts), abs=1e-6)


def test_learning_again_replaces_the_catalogue(train: Dataset, dev: Dataset) -> None:
    model = XRLinear().fit(train).learn_names(dev, catalogue=NAMES)
    assert len(model.space) == len(NAMES)
    model.learn_names(dev)
    assert len(model.space) == len(train.space) == len(model.frequency)
    model.fit(train)
    assert model.naming is None
    assert len(model.space) == len(train.space)


def test_ensembles_of_named_models_and_with_names_of_their_own(
    train: Dataset, dev: Dataset, test: Dataset, tmp_path: Path
) -> None:
    members = [maker().fit(train) for maker in (XRLinear, OneVsAll)]
    own = Ensemble.of(members, EnsembleConfig(fuser="rank_average")).learn_names(dev, catalogue=NAMES)
    assert found_unseen(own, test) > 0.9
    for member in members:
        member.learn_names(dev, catalogue=NAMES)
    theirs = choose(members, dev)
    assert found_unseen(theirs, test) > 0.9
    assert theirs.predict(test).unseen is not None
    for number, model in enumerate((own, theirs)):
        model.save(tmp_path / str(number))
        assert load(tmp_path / str(number)).predict(test) == model.predict(test)


def test_what_a_catalogue_may_be(train: Dataset) -> None:
    space = train.space
    assert with_catalogue(space, None) is space
    assert with_catalogue(space, ["new", "amber_engine"]).names == (*space.names, "new")
    described = with_catalogue(space, {"new": "a new label", "amber_engine": "engine of amber"})
    assert described.texts is not None
    assert dict(zip(described.names, described.texts, strict=True))["amber_engine"] == "engine of amber"
    assert with_catalogue(space, LabelSpace(["new"], ["a new label"])).texts == (*space.names, "a new label")
    with pytest.raises(DataError, match="the catalogue names no label"):
        with_catalogue(space, [])


def test_what_is_refused(train: Dataset, dev: Dataset) -> None:
    model = XRLinear().fit(train)
    with pytest.raises(DataError, match="among those that the model was trained on"):
        model.learn_names(train)
    with pytest.raises(DataError, match="3 held-out texts are too few to learn from what label names are worth"):
        model.learn_names(dev.take([0, 1, 2]))
    with pytest.raises(NotFittedError):
        XRLinear().learn_names(dev)
    assert model.naming is None


def test_explanations_tell_of_names_and_of_labels_known_by_name_only(train: Dataset, dev: Dataset) -> None:
    model = XRLinear().fit(train).learn_names(dev, catalogue=NAMES).keep_texts(train)
    seen = model.explain("noise1 amber engine noise2", "amber_engine")
    assert any("the label's name in the text adds" in note and "amber +" in note for note in seen.notes)
    unseen = model.explain("noise1 flint journal noise2", "flint_journal")
    assert any("flint +" in note and "journal +" in note for note in unseen.notes)
    assert [word.word for word in unseen.words] == ["flint", "journal"]
    assert (unseen.path, unseen.nearest) == ((), ())
    assert model.explain("noise1 noise2", "flint_journal").notes[0] == "nothing of the label's name is in the text"

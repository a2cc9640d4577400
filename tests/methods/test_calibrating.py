from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import planted
from treetop.data import Dataset
from treetop.errors import ConfigError, DataError, NotFittedError
from treetop.methods import Method, load
from treetop.methods.calibrating import cut_at, held_out
from treetop.methods.ensemble import Ensemble, choose
from treetop.methods.one_vs_all import OneVsAll
from treetop.methods.xr_linear import XRLinear
from treetop.metrics import expected_calibration_error


@pytest.fixture(scope="module")
def dev() -> Dataset:
    return planted(400, seed=3)


@pytest.fixture(scope="module")
def calibrated(toy_train: Dataset, dev: Dataset) -> XRLinear:
    return XRLinear().fit(toy_train).calibrate(dev)


def names(dataset: Dataset) -> list[list[str]]:
    space = dataset.space.names
    return [[space[label] for label in dataset.labels[[row]].indices.tolist()] for row in range(len(dataset))]


def test_from_a_dataset_or_from_texts_and_labels(calibrated: XRLinear, toy_train: Dataset, dev: Dataset) -> None:
    other = XRLinear().fit(toy_train)
    margins = other.predict(dev, k=5)
    assert other.calibrate(dev.corpus.texts, names(dev)) is other
    found = other.predict(dev, k=5)
    assert found == calibrated.predict(dev, k=5)
    assert (margins.kind, found.kind) == ("score", "probability")
    np.testing.assert_array_equal(margins.labels, found.labels)


def test_probabilities_hold_on_other_texts(calibrated: XRLinear, toy_train: Dataset, toy_test: Dataset) -> None:
    before = expected_calibration_error(XRLinear().fit(toy_train).predict(toy_test, 10), toy_test)
    after = expected_calibration_error(calibrated.predict(toy_test, 10), toy_test)
    assert after < 0.02 < before


def test_training_texts_are_refused(calibrated: XRLinear, toy_train: Dataset, dev: Dataset) -> None:
    before = calibrated.calibration
    with pytest.raises(DataError, match="400 of the 400 texts are among those that the model was trained on"):
        calibrated.calibrate(toy_train)
    assert calibrated.calibration is before
    few = Dataset.build([*dev.corpus.texts, *toy_train.corpus.texts[:30]], names(dev) + names(toy_train)[:30])
    assert len(held_out(calibrated, few)) == 400  # a few copies, as real data has them, are left out
    with pytest.raises(DataError, match="too few to calibrate on"):
        calibrated.calibrate(["a text"], [["label 0-1"]])
    with pytest.raises(DataError, match=r"are right and .* wrong"):
        calibrated.calibrate(dev.corpus.texts, [["no such label"]] * len(dev))
    with pytest.raises(NotFittedError):
        XRLinear().calibrate(dev)


def test_thresholds_in_words(calibrated: XRLinear, toy_train: Dataset, toy_test: Dataset) -> None:
    assert calibrated.calibration is not None
    cut = calibrated.calibration.threshold("precision:0.95")
    assert isinstance(cut, float)
    assert calibrated.predict(toy_test, threshold="precision:0.95") == calibrated.predict(toy_test, threshold=cut)
    assert calibrated.predict(toy_test, threshold="0.5") == calibrated.predict(toy_test, threshold=0.5)
    own = calibrated.predict(toy_test, threshold="f1-per-label")
    limits = np.asarray(calibrated.calibration.threshold("f1-per-label"))
    everything = calibrated.predict(toy_test)
    assert ((own.labels >= 0) == (everything.scores >= limits[everything.labels])).all()
    with pytest.raises(ConfigError, match=r"threshold is 'f1', which only a calibrated model can find; .*calibrate"):
        XRLinear().fit(toy_train).predict(toy_test, threshold="f1")
    with pytest.raises(ConfigError, match="threshold is 'high'"):
        cut_at("high", calibrated.calibration, "probability")
    for nonsense in ("banana", "precision:2"):  # is no matter of calibration
        with pytest.raises(ConfigError, match=rf"threshold is '{nonsense}'; give"):
            XRLinear().fit(toy_train).predict(toy_test, threshold=nonsense)


def test_it_is_kept_with_the_model(calibrated: XRLinear, toy_train: Dataset, toy_test: Dataset, tmp_path: Path) -> None:
    expected = calibrated.predict(toy_test, threshold="f1")
    calibrated.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    for again in (loaded, pickle.loads(pickle.dumps(loaded)), copy.deepcopy(calibrated)):
        assert again.predict(toy_test, threshold="f1") == expected
    plain = XRLinear().fit(toy_train)
    plain.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.calibration is None
    again.calibrate(planted(100, seed=5))  # no longer what its folder is, so it is pickled as a whole
    assert pickle.loads(pickle.dumps(again)).predict(toy_test) == again.predict(toy_test)
    assert "calibrated on" not in plain._facts()
    assert "400 texts" in calibrated._facts()["calibrated on"]
    assert calibrated.fit(toy_train).calibration is None  # another model has other scores
    calibrated.calibrate(planted(400, seed=3))


def test_ensembles_fuse_scores_and_have_probabilities_of_their_own(toy_train: Dataset, dev: Dataset) -> None:
    plain: list[Method[Any]] = [XRLinear().fit(toy_train), OneVsAll().fit(toy_train)]
    sure = [copy.copy(one).calibrate(dev) for one in plain]
    for fuser in ("rank_average", "sigmoid_average"):
        one, other = Ensemble.of(plain, fuser=fuser), Ensemble.of(sure, fuser=fuser)
        assert one.predict(dev) == other.predict(dev)
        other.calibrate(dev)
        assert other.predict(dev).kind == "probability"
        np.testing.assert_array_equal(one.predict(dev).labels, other.predict(dev).labels)
    assert choose(sure, dev).config == choose(plain, dev).config


def test_places_among_some_labels_are_no_probabilities(toy_train: Dataset, dev: Dataset) -> None:
    members: list[Method[Any]] = [XRLinear().fit(toy_train), OneVsAll().fit(toy_train)]
    ensemble = Ensemble.of(members, fuser="rank_average").calibrate(dev)
    some = list(toy_train.space.names[:5])
    assert ensemble.predict(dev, labels=some).kind == "rank"
    with pytest.raises(ConfigError, match="places in lists are no probabilities"):
        ensemble.predict(dev, labels=some, threshold="f1")

"""Calibration of planted scores: the chance of a label is known, and depends on its score and on its frequency."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from treetop.calibration import Calibration
from treetop.errors import DataError, StoreError
from treetop.metrics import at_threshold, expected_calibration_error
from treetop.predictions import Ask, Predictions
from treetop.store import Folder

LABELS, K = 60, 12
FREQUENCY = np.repeat([1, 5, 20, 50, 200, 1000], 10)


def drawn(texts: int, seed: int) -> tuple[Predictions, csr_array]:
    """Margins whose labels are true by a sigmoid that has its middle further up for rare labels."""
    rng = np.random.default_rng(seed)
    margins = rng.normal(-2, 2, (texts, LABELS)).astype(np.float32)
    chance = 1 / (1 + np.exp(-(margins - 2 + np.log10(FREQUENCY) / 3)))
    true = csr_array((rng.random(chance.shape) < chance).astype(np.float32))
    return Predictions.from_csr(csr_array(margins), K, kind="margin"), true


@pytest.fixture(scope="module")
def fitted() -> Calibration:
    return Calibration.fit(*drawn(4000, 0), FREQUENCY)


@pytest.fixture(scope="module")
def fresh() -> tuple[Predictions, csr_array]:
    return drawn(4000, 1)


def test_margins_become_probabilities_and_the_ranking_stays(
    fitted: Calibration, fresh: tuple[Predictions, csr_array]
) -> None:
    predictions, true = fresh
    found = fitted.apply(predictions)
    assert found.kind == "probability"
    assert found.labels is predictions.labels
    assert (np.diff(found.scores, axis=1) <= 0).all()
    assert expected_calibration_error(found, true) < 0.015
    assert len(fitted.edges) == 5


def test_rare_labels_are_calibrated_too(fitted: Calibration, fresh: tuple[Predictions, csr_array]) -> None:
    """With one map for all labels the error on rare ones is more than twice as large."""
    predictions, true = fresh
    rare = FREQUENCY <= 10
    together = Calibration.fit(*drawn(4000, 0), np.full(LABELS, 7))
    banded, single = (
        expected_calibration_error(one.apply(predictions), true, among=rare) for one in (fitted, together)
    )
    assert len(together.edges) == 0
    assert banded < single / 2


def test_the_many_common_labels_do_not_decide_for_the_few_rare_ones(fitted: Calibration) -> None:
    """Rare labels that stand above likelier common ones keep more of what is known of them."""
    weight = fitted.curves.weight
    assert len(weight) == 6
    rare, common = 0, LABELS - 1
    lists = Predictions(np.array([[rare, common]], np.int32), np.array([[0.5, 0.4]], np.float32), kind="margin")
    alone = [fitted.apply(lists.rows(slice(0, 1)).top(1)).scores[0, 0]]
    alone.append(fitted.apply(Predictions(lists.labels[:, 1:], lists.scores[:, 1:], kind="margin")).scores[0, 0])
    assert alone[0] < alone[1]
    shared = fitted.apply(lists).scores[0]
    assert (
        shared[0] == shared[1] == pytest.approx((weight[0] * alone[0] + weight[5] * alone[1]) / (weight[0] + weight[5]))
    )


def test_bands_that_are_seldom_suggested_weigh_more() -> None:
    few = np.repeat([1, 1000], [6, 54])
    weight = Calibration.fit(*drawn(2000, 0), few).curves.weight
    assert len(weight) == 2
    assert 2 < weight[0] / weight[1] < 4  # about the root of 54 / 6


def test_calibrations_of_before_weigh_all_labels_alike(fitted: Calibration, tmp_path: Path) -> None:
    with Folder.create(tmp_path / "old") as folder:
        fitted.save(folder)
        arrays = dict(folder.read_tensors("calibration.safetensors"))
        del arrays["weight"]
        folder.write_tensors("calibration.safetensors", {name: np.array(array) for name, array in arrays.items()})
    loaded = Calibration.load(Folder.open(tmp_path / "old"), LABELS)
    assert loaded.curves.weight.tolist() == [1.0] * 6


def test_thresholds_reach_on_new_texts_what_they_promise(
    fitted: Calibration, fresh: tuple[Predictions, csr_array]
) -> None:
    found = fitted.apply(fresh[0])
    for wanted in (0.6, 0.8):
        cut = fitted.threshold(f"precision:{wanted}")
        assert isinstance(cut, float)
        assert at_threshold(found, fresh[1], cut)["precision"] == pytest.approx(wanted, abs=0.02)
    best = fitted.threshold("f1")
    assert isinstance(best, float)
    values = [at_threshold(found, fresh[1], cut / 50)["microf1"] for cut in range(1, 50)]
    assert at_threshold(found, fresh[1], best)["microf1"] > max(values) - 0.01


def test_saved_and_loaded_it_is_the_same(
    fitted: Calibration, fresh: tuple[Predictions, csr_array], tmp_path: Path
) -> None:
    with Folder.create(tmp_path / "c") as folder:
        fitted.save(folder)
    again = Calibration.load(Folder.open(tmp_path / "c"), LABELS)
    assert again.apply(fresh[0]) == fitted.apply(fresh[0])
    for aim in ("f1", "precision:0.7", "f1-per-label"):
        np.testing.assert_array_equal(again.threshold(aim), fitted.threshold(aim))
    assert (again.kind, again.depth, again.describe()) == (fitted.kind, fitted.depth, fitted.describe())
    assert json.loads((tmp_path / "c" / "calibration.json").read_text())["texts"] == 4000
    with pytest.raises(StoreError, match=r"do not fit the 61 labels of the model\); calibrate the model again"):
        Calibration.load(Folder.open(tmp_path / "c"), LABELS + 1)


def test_trained_again_on_more_texts_labels_change_their_bands(fitted: Calibration) -> None:
    moved = fitted.moved(FREQUENCY * 10)
    assert moved.band.tolist() == np.searchsorted(fitted.edges, FREQUENCY * 10).tolist()
    assert moved.curves is fitted.curves


def test_places_in_lists_mean_nothing_in_other_lists(fitted: Calibration) -> None:
    some = np.array([1, 2], np.int32)
    assert fitted.covers(Ask(99, allowed=some))
    predictions, true = drawn(200, 2)
    ranked = Predictions(predictions.labels, predictions.scores, kind="rank")
    places = Calibration.fit(ranked, true, FREQUENCY)
    assert places.covers(Ask(K))
    assert not places.covers(Ask(K + 1))
    assert not places.covers(Ask(K, allowed=some))


def test_too_little_to_learn_from() -> None:
    predictions, true = drawn(49, 0)
    with pytest.raises(DataError, match="49 held-out texts are too few to calibrate on; give 50 or better a thousand"):
        Calibration.fit(predictions, true, FREQUENCY)
    predictions, true = drawn(100, 0)
    with pytest.raises(DataError, match=r"0 are right and 1,200 wrong; .* labels as in the training data"):
        Calibration.fit(predictions, 0 * true, FREQUENCY)


def placed(texts: int, seed: int) -> tuple[Predictions, csr_array]:
    """Lists whose scores say nothing, as those of names: what is right depends on the place alone."""
    rng = np.random.default_rng(seed)
    labels = np.argsort(rng.random((texts, LABELS)), axis=1)[:, :15].astype(np.int32)
    scores = np.sort(rng.random((texts, 15)), axis=1)[:, ::-1] * 0.01 + rng.random((texts, 1))
    right = rng.random(labels.shape) < np.array([0.7] + [0.2] * 9 + [0.05] * 5)
    rows, columns = np.nonzero(right)
    true = csr_array((np.ones(len(rows), np.float32), (rows, labels[rows, columns])), shape=(texts, LABELS))
    return Predictions(labels, scores.astype(np.float32), kind="score"), true


def test_parts_of_a_list_may_have_maps_of_their_own(tmp_path: Path) -> None:
    together, apart = (Calibration.fit(*placed(3000, 0), FREQUENCY, apart=way) for way in (False, True))
    predictions, _ = placed(3000, 1)
    assert abs(together.apply(predictions).scores[:, 0].mean() - 0.7) > 0.3
    found = apart.apply(predictions).scores
    np.testing.assert_allclose(found.mean(0)[[0, 5, 12]], [0.7, 0.2, 0.05], atol=0.03)
    assert (np.diff(found, axis=1) <= 0).all()
    for k in (1, 5, 10, 12):
        some = apart.apply(Predictions(predictions.labels[:, :k], predictions.scores[:, :k], kind="score")).scores
        np.testing.assert_allclose(some.mean(0), found[:, :k].mean(0), atol=0.05)
    with Folder.create(tmp_path / "m", sealed=False) as folder:
        apart.save(folder)
    again = Calibration.load(Folder.open(tmp_path / "m"), LABELS)
    np.testing.assert_array_equal(again.apply(predictions).scores, found)
    assert len(again.behind) == 2
    assert not together.behind

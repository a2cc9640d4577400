from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from treetop.data import Corpus, Dataset
from treetop.errors import DataError, StoreError
from treetop.methods.base import bag_of_words, fit_bag_of_words, training_memory
from treetop.methods.xr_linear import XRLinear
from treetop.sparse import canonical
from treetop.text import TfidfConfig


def test_texts_get_tf_idf_and_features_stay_as_they_are() -> None:
    tfidf, features = fit_bag_of_words(TfidfConfig(), Corpus(["red apple", "green apple"]))
    assert tfidf is not None
    assert features.shape == (2, 3)
    np.testing.assert_array_equal(bag_of_words(tfidf, Corpus(["red apple"])).toarray(), features[[0]].toarray())
    given = canonical(np.eye(3, dtype=np.float32))
    tfidf, features = fit_bag_of_words(TfidfConfig(), Corpus([], given))
    assert tfidf is None
    np.testing.assert_array_equal(features.toarray(), np.eye(3))


def test_features_must_be_finite() -> None:
    broken = canonical(np.array([[1, 0], [0, np.nan]], np.float32))
    with pytest.raises(DataError, match="nan in row 1"):
        bag_of_words(None, Corpus([], broken))


def test_what_was_given_in_training_is_needed_again() -> None:
    tfidf, _ = fit_bag_of_words(TfidfConfig(), Corpus(["red apple"]))
    with pytest.raises(DataError, match="give the texts"):
        bag_of_words(tfidf, Corpus([], canonical(np.eye(2, dtype=np.float32))))
    with pytest.raises(DataError, match="give the features"):
        bag_of_words(None, Corpus(["red apple"]))


def test_memory_is_estimated_from_texts_or_features(toy_train: Dataset) -> None:
    from_texts = training_memory(toy_train, trees=1, half=False)
    features = canonical(np.ones((len(toy_train), 10), np.float32))
    from_features = training_memory(
        Dataset(Corpus([], features), toy_train.labels, toy_train.space), trees=1, half=False
    )
    assert 10_000 < from_features < from_texts < 10_000_000
    assert training_memory(toy_train, trees=1, half=True) < from_texts


@pytest.mark.parametrize("damage", ["cut at a line", "renamed field"])
def test_damaged_label_names_are_refused(damage: str, toy_train: Dataset, tmp_path: Path) -> None:
    XRLinear().fit(toy_train).save(tmp_path / "m")
    path = tmp_path / "m" / "labels.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    (tmp_path / "m" / "manifest.json").unlink()  # which would notice it before
    path.write_text("".join(lines[:30]) if damage == "cut at a line" else "".join(lines).replace("label", "lbl"))
    with pytest.raises(StoreError, match=r"labels\.jsonl: the file is damaged .* restore it or train again"):
        XRLinear.load(tmp_path / "m")


@pytest.mark.parametrize("part", ["config", "training"])
def test_a_card_that_is_not_complete_is_refused(part: str, toy_train: Dataset, tmp_path: Path) -> None:
    XRLinear().fit(toy_train).save(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    card = json.loads(path.read_text())
    (tmp_path / "m" / "manifest.json").unlink()
    del card[part]
    path.write_text(json.dumps(card))
    with pytest.raises(StoreError, match=r"model\.json: the card is not complete"):
        XRLinear.load(tmp_path / "m")


def test_a_model_knows_the_texts_it_learned_from(toy_train: Dataset, toy_test: Dataset, tmp_path: Path) -> None:
    half = toy_train.take(range(200))
    XRLinear().fit(half).save(tmp_path / "m")
    model = XRLinear.load(tmp_path / "m")
    known = model.trained_on(toy_train)
    assert known is not None
    assert known.tolist() == [True] * 200 + [False] * 200
    assert model.trained_on([half.corpus.texts[3].upper(), "another"]).tolist() == [True, False]  # type: ignore[union-attr]
    assert (tmp_path / "m" / "texts.safetensors").stat().st_size < 8 * 200 + 200
    for newer in ("texts.safetensors", "manifest.json"):  # as a model of an earlier version
        (tmp_path / "m" / newer).unlink()
    assert XRLinear.load(tmp_path / "m").trained_on(toy_test) is None

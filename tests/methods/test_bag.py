from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse as sp

import treetop
from treetop.data import Corpus, Dataset, read
from treetop.errors import ConfigError, DataError
from treetop.methods.bag import bag_of_words, fit_bag_of_words, taken_features, texts_of
from treetop.methods.one_vs_all import OneVsAll
from treetop.methods.xr_linear import XRLinear
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.text import TfidfConfig

GIVEN = canonical(np.eye(3, dtype=np.float32))
TEXTS = ["red apple", "green apple", "blue plum"]
BARE, MADE, SHIPPED = Corpus(TEXTS), Corpus(TEXTS, GIVEN), Corpus(TEXTS, GIVEN, "X.trn.npz")


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


@pytest.mark.parametrize(
    ("wanted", "corpus", "taken"),
    [
        ("auto", BARE, "texts"),
        ("auto", Corpus([], GIVEN), "given"),
        ("auto", MADE, "texts"),
        ("auto", SHIPPED, "given"),
        ("texts", SHIPPED, "texts"),
        ("given", MADE, "given"),
        ("both", MADE, "both"),
    ],
)
def test_which_features_are_taken(wanted: Any, corpus: Corpus, taken: str) -> None:
    assert taken_features(wanted, corpus) == taken
    tfidf, features = fit_bag_of_words(TfidfConfig(), corpus, features=wanted)
    assert (tfidf is None) == (taken == "given")
    assert features.shape[1] == {"texts": 5, "given": 3, "both": 8}[taken]
    again = bag_of_words(tfidf, corpus, features=wanted)
    np.testing.assert_array_equal(features.toarray(), again.toarray())


def test_both_are_of_one_length_together() -> None:
    _, features = fit_bag_of_words(TfidfConfig(), Corpus(TEXTS, 7 * GIVEN), features="both")
    lengths = np.sqrt(features.multiply(features).sum(axis=1))
    np.testing.assert_allclose(lengths, 1, rtol=1e-6)
    np.testing.assert_allclose(features[:, 5:].toarray(), GIVEN.toarray() * np.sqrt(0.5), rtol=1e-6)


@pytest.mark.parametrize(
    ("wanted", "corpus", "expected"),
    [
        ("given", BARE, "features is 'given', but none are given beside the texts; add X.trn.npz, or set 'texts'"),
        ("both", BARE, "features is 'both', but none are given"),
        ("texts", Corpus([], GIVEN), "features is 'texts', but there are no texts"),
        ("both", Corpus([], GIVEN), "features is 'both', but there are no texts"),
    ],
)
def test_what_is_asked_for_must_be_there(wanted: Any, corpus: Corpus, expected: str) -> None:
    with pytest.raises(DataError, match=expected):
        fit_bag_of_words(TfidfConfig(), corpus, features=wanted)


def test_which_were_taken_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="treetop"):
        fit_bag_of_words(TfidfConfig(), SHIPPED)
        fit_bag_of_words(TfidfConfig(), BARE)
    told = "features=auto: the given features are taken, and no tf-idf of the texts (X.trn.npz has 3 columns)"
    assert caplog.messages == [told]


def released(folder: Path, dataset: Dataset) -> Path:
    """The layout of a paper's release: matrices, and texts beside them."""
    features = sp.random_array((len(dataset), 77), density=0.2, rng=np.random.default_rng(0), dtype=np.float32)
    sp.save_npz(folder / "X.trn.npz", sp.csr_array(features))
    sp.save_npz(folder / "Y.trn.npz", sp.csr_array(dataset.labels))
    (folder / "train_raw_texts.txt").write_text("\n".join(dataset.corpus.texts))
    return folder


@pytest.mark.parametrize("method", [XRLinear, OneVsAll])
@pytest.mark.parametrize("wanted", ["auto", "given", "texts", "both"])
def test_a_model_keeps_to_the_features_it_was_trained_on(
    method: Any, wanted: str, toy_train: Dataset, tmp_path: Path
) -> None:
    train = read(released(tmp_path, toy_train))
    model = method(features=wanted).fit(train)
    taken = "given" if wanted == "auto" else wanted
    assert model.training["features"] == (taken if taken == "texts" else f"{taken} (X.trn.npz)")
    model.save(tmp_path / "m")
    again = treetop.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(train, 3).scores, model.predict(train, 3).scores)
    if taken == "texts":
        again.predict(train.corpus.texts[:2], 3)
    else:
        with pytest.raises(DataError, match="trained on ready-made features, but texts are given; give the features"):
            again.predict(train.corpus.texts[:2], 3)


@pytest.mark.parametrize("name", ["cascadexml", "xr-transformer", "x-transformer"])
def test_transformers_keep_to_them_too(name: str, toy_train: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tiny_methods import OPTIM, cascade, matching, recursive

    train = read(released(tmp_path, toy_train.take(range(60))))
    brief: dict[str, Any] = {"optim": replace(OPTIM, epochs=0, steps=2)}
    make = {"cascadexml": cascade(sparse=True, **brief), "xr-transformer": recursive(**brief)}
    model = make.get(name, matching(**brief))(Runtime(threads=1)).fit(train)
    assert model.training["features"] == "given (X.trn.npz)"
    model.save(tmp_path / "m")
    again = treetop.load(tmp_path / "m", runtime=Runtime(threads=1))
    np.testing.assert_array_equal(again.predict(train, 3).labels, model.predict(train, 3).labels)
    with pytest.raises(DataError, match="give the features, or train with features=texts"):
        again.predict(train.corpus.texts[:2], 3)


def test_reading_says_that_features_are_shipped(toy_train: Dataset, tmp_path: Path) -> None:
    remark = read(released(tmp_path, toy_train)).findings.remarks[0]
    assert remark.startswith("X.trn.npz ships features beside the texts; they are taken in place of tf-idf")


def test_other_words_are_refused() -> None:
    with pytest.raises(ConfigError, match="features"):
        XRLinear(features="shipped")


def test_an_encoder_needs_texts() -> None:
    with pytest.raises(DataError, match="reads texts"):
        texts_of(Corpus([], canonical(np.eye(2, dtype=np.float32))))

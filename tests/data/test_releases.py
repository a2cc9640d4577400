"""Every form in which papers release their benchmarks, read from files as they are released."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from treetop.data import read, splits
from treetop.data.layout import folder_sources, release_of
from treetop.metrics import Propensity, evaluate
from treetop.predictions import Predictions

RELEASES = Path(__file__).parents[1] / "fixtures" / "releases"
TEXTS = ["wheat prices rise", "maize and wheat", "the price of tea", "a strike at the port", ""]
TITLES = ("wheat", "maize", "prices", "labour disputes")
CODES = ("W1", "M2", "P3", "L4")
NUMBERS = ("0", "1", "2", "3")
LABELS = [[1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
TEST_LABELS = [[0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 1]]
FEATURES: list[list[float]] = [
    [0.5, 0, 0.5, 0, 0, 0.7],
    [0.6, 0.8, 0, 0, 0, 0],
    [0, 0, 0.9, 0, 0.4, 0],
    [0, 0, 0, 1, 0, 0],
    [0, 0, 0, 0, 0, 0],
]


class Release(NamedTuple):
    whose: str
    names: tuple[str, ...]
    titles: tuple[str, ...] | None
    texts: bool = True
    origin: str = ""
    """The file with the features; none if it is empty."""


FORMS = {
    "repository-bags": Release("the XMC repository (bags of words)", NUMBERS, None, texts=False, origin="train.txt"),
    "repository-texts": Release("the XMC repository (raw texts)", CODES, TITLES),
    "repository-lf": Release("the XMC repository (label texts)", TITLES, TITLES, origin="trn_X_Xf.txt"),
    "attentionxml": Release("AttentionXML", CODES, None, origin="train_v1.txt"),
    "x-transformer": Release("X-Transformer", tuple(t.replace(" ", "_") for t in TITLES), TITLES, origin="X.trn.npz"),
    "lightxml": Release("LightXML", NUMBERS, None, origin="train.txt"),
    "cascadexml": Release("CascadeXML", NUMBERS, None, origin="train.txt"),
    "pecos": Release("PECOS", CODES, None, origin="X.trn.npz"),
}


@pytest.mark.parametrize("form", FORMS)
def test_texts_features_labels_and_their_names(form: str) -> None:
    release, dataset = FORMS[form], read(RELEASES / form)
    order = [dataset.space.index[name] for name in release.names]
    assert dataset.labels.toarray()[:, order].tolist() == LABELS
    assert len(dataset.space) == len(release.names)
    assert (dataset.space.texts is None) == (release.titles is None)
    if dataset.space.texts is not None and release.titles is not None:
        assert [dataset.space.texts[place] for place in order] == list(release.titles)
    if release.texts:
        assert [text.removesuffix("\nin short") for text in dataset.corpus.texts] == TEXTS
    else:
        assert dataset.corpus.texts == []
    assert dataset.corpus.origin == release.origin
    if release.origin:
        assert dataset.corpus.features is not None
        np.testing.assert_allclose(dataset.corpus.features.toarray(), np.array(FEATURES), rtol=1e-6)
    else:
        assert dataset.corpus.features is None


@pytest.mark.parametrize("form", FORMS)
def test_the_test_split_in_the_columns_of_the_training(form: str) -> None:
    assert splits(RELEASES / form) == ("train", "test")
    train = read(RELEASES / form)
    test = read(RELEASES / form, split="test", space=train.space)
    order = [train.space.index[name] for name in FORMS[form].names]
    assert test.space == train.space
    assert test.labels.toarray()[:, order].tolist() == TEST_LABELS


FOUND = [[0, 3, 1], [2, 0, 1], [2, 1, 3]]
"""Labels found for the test texts, by their place among `names`; none of a pair that a file of filters leaves out."""


def by_hand(k: int) -> tuple[float, float]:
    """P@k and PSP@k of `FOUND` as the repository's evaluation defines them, label after label."""
    constant = (log(5) - 1) * (1.5 + 1) ** 0.55
    weight = [1 + constant * (sum(text[label] for text in LABELS) + 1.5) ** -0.55 for label in range(4)]
    right = [
        [weight[label] for label in best[:k] if true[label]] for best, true in zip(FOUND, TEST_LABELS, strict=True)
    ]
    most = [sorted((weight[label] for label in range(4) if true[label]), reverse=True)[:k] for true in TEST_LABELS]
    return sum(map(len, right)) / (3 * k), sum(map(sum, right)) / sum(map(sum, most))


@pytest.mark.parametrize("form", FORMS)
def test_metrics_are_those_of_the_papers(form: str) -> None:
    """With propensities of the training labels; the same for every form, as it holds the same data."""
    train = read(RELEASES / form)
    test = read(RELEASES / form, split="test", space=train.space)
    order = np.array([train.space.index[name] for name in FORMS[form].names], np.int32)
    scores = np.tile(np.array([0.9, 0.8, 0.7], np.float32), (3, 1))
    found = Predictions(order[np.array(FOUND)], scores, train.space.names)
    propensity = Propensity(train_texts=len(train))
    metrics = evaluate(found, test, ["p@1", "p@2", "psp@1", "psp@2"], frequency=train.frequency, propensity=propensity)
    (p1, psp1), (p2, psp2) = by_hand(1), by_hand(2)
    assert metrics == pytest.approx({"p@1": p1, "p@2": p2, "psp@1": psp1, "psp@2": psp2})
    assert p2 == 3 / 6


@pytest.mark.parametrize("form", FORMS)
def test_whose_form_it_is(form: str) -> None:
    assert {release_of(source) for source in folder_sources(RELEASES / form).values()} == {FORMS[form].whose}


def test_files_of_ones_own_are_nobodys(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("")
    (tmp_path / "test.txt").write_text("__label__a one\n")
    assert {release_of(source) for source in folder_sources(tmp_path).values()} == {""}

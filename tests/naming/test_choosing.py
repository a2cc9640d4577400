from __future__ import annotations

import numpy as np
import pytest

from named import KNOWN, NAMES, named_texts
from treetop.data import Corpus, LabelSpace
from treetop.methods.xr_linear import XRLinear
from treetop.naming import NameIndex
from treetop.naming.choosing import Choice, choose_weights
from treetop.predictions import Kind, Predictions
from treetop.runtime import Runtime
from treetop.sparse import from_parts


def test_weights_are_worth_more_than_chance() -> None:
    model = XRLinear().fit(named_texts(150, 1, KNOWN)).learn_names(named_texts(300, 2), catalogue=NAMES)
    facts = model.training["label_names"]
    assert facts["best"] - facts["without"] > facts["error"] > 0
    assert model.naming is not None
    assert model.naming.weight > 0
    np.testing.assert_array_equal(model.naming.worth[model.naming.unseen], np.float32(model.naming.unseen_weight))


def test_names_that_are_codes_are_of_no_use() -> None:
    rows = named_texts(150, 1, KNOWN), named_texts(300, 2, KNOWN)
    coded = [
        ([f"q{NAMES.index(data.space.names[label])}x" for label in data.labels[[row]].indices.tolist()])
        for data in rows
        for row in range(len(data))
    ]
    texts = [*rows[0].corpus.texts, *rows[1].corpus.texts]
    model = XRLinear().fit(texts[:150], coded[:150]).learn_names(texts[150:], coded[150:])
    assert model.naming is None
    assert model.training["label_names"]["best"] == model.training["label_names"]["without"]


def choice(said: str, kind: Kind) -> Choice:
    """Weights for texts with three true labels, of which the first, which they name, is listed behind a wrong one."""
    names = ["first", "second", "third", "wrong", "other"]
    corpus = Corpus([f"{said} noise{row}" for row in range(200)])
    index = NameIndex.build(names, corpus.texts)
    scores = np.tile(np.array([[0.9, 0.5, 0.3, 0.2]], np.float32), (200, 1))
    listed = Predictions(np.tile(np.array([[3, 0, 1, 2]], np.int32), (200, 1)), scores, kind=kind)
    true = from_parts(np.arange(0, 601, 3), np.tile(np.array([0, 1, 2], np.int32), 200), None, columns=5)
    none = np.zeros(5, bool)
    terms = index.terms_of(corpus, threads=1)
    return choose_weights(listed, terms, true, index, LabelSpace(names), none, 5, Runtime(threads=1))


@pytest.mark.parametrize("kind", ["score", "margin"])
def test_better_first_labels_are_not_paid_for_by_later_ones(kind: Kind) -> None:
    alone, with_another = choice("the first", kind), choice("the first, no other", kind)
    assert alone.naming is not None
    assert alone.best > alone.without
    assert with_another.best > with_another.without + 0.2
    assert with_another.naming is None  # the best five are worse

from __future__ import annotations

import numpy as np

from named import KNOWN, NAMES, named_texts
from treetop.methods.xr_linear import XRLinear


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

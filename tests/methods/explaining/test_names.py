"""What label names add, where they are mixed into scores, stands beside what the model adds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conftest import planted
from treetop.explanation import LABEL_NAMES, REST
from treetop.methods import Method
from treetop.methods.one_vs_all import OneVsAll
from treetop.methods.xr_linear import XRLinear
from treetop.naming import Naming
from treetop.naming.index import NameIndex

TEXT = "topic0 word0x1x1 word0x1x2 label noise3 sea food"


def named(model: Method[Any], power: int = 1) -> Method[Any]:
    """The model, fitted, with the names of its labels and one more mixed in at given weights."""
    model.fit(planted(300, seed=1))
    space = model.space.extended(["sea food"])
    kind = model.predict(["topic0"]).kind
    index = NameIndex.build(space.names, planted(300, seed=1).corpus.texts)
    unseen = [number >= len(model.space) for number in range(len(space))]
    floor = -1.0 if kind == "margin" else 0.0
    naming = Naming(space, index, len(model.space), 0.5, 0.75, power, floor, kind, np.array(unseen))
    model.adopt(naming, None)
    return model


@pytest.mark.parametrize("power", [1, 3])
def test_a_name_adds_to_the_margin_that_is_the_score(power: int) -> None:
    model = named(OneVsAll(), power)
    found = model.explain(TEXT, "label 0-1")
    assert found.parts[LABEL_NAMES] > 0
    assert found.margin == pytest.approx(found.score, abs=1e-5)
    assert found.parts[REST] == pytest.approx(0, abs=1e-9)
    adds = {word.word: word.parts[LABEL_NAMES] for word in found.words}
    assert adds["label"] == pytest.approx(found.parts[LABEL_NAMES])
    assert adds["word0x1x1"] == 0


def test_to_a_score_it_adds_as_a_note() -> None:
    found = named(XRLinear()).explain(TEXT, "label 0-1")
    assert LABEL_NAMES not in found.parts
    assert found.notes[0].startswith("the label's name in the text adds 0.")
    assert found.notes[0].endswith("to the score: label +0." + found.notes[0][-3:])
    assert named(XRLinear()).explain("topic0 word0x1x1", "label 0-1").notes == (
        "nothing of the label's name is in the text",
    )


@pytest.mark.parametrize("make", [OneVsAll, XRLinear])
def test_a_label_without_training_texts_has_its_name_alone(make: Any) -> None:
    model = named(make()).keep_texts(planted(50, seed=3))
    found = model.explain(TEXT, "sea food")
    assert [word.word for word in found.words] == ["sea", "food"]
    assert found.margin == pytest.approx(found.score, abs=1e-5)
    assert (found.path, found.nearest) == ((), ())

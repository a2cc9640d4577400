from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from treetop.data import Corpus, LabelSpace
from treetop.errors import StoreError
from treetop.naming import NameIndex, Naming
from treetop.predictions import Ask, Predictions
from treetop.runtime import Runtime
from treetop.store import Folder

SPACE = LabelSpace(["tax", "trade", "tax law", "plum"])
LISTED = Predictions(np.array([[1, 0]], np.int32), np.array([[0.6, 0.2]], np.float32))


def naming(**other: object) -> Naming:
    index = NameIndex.build(SPACE.names, ["the tax law", "trade"])
    unseen = np.array([False, False, True, True])
    facts: dict[str, object] = {"weight": 0.5, "unseen_weight": 1.0, "power": 1, "floor": 0.1, "kind": "margin"}
    return Naming(SPACE, index, 2, unseen=unseen, **(facts | other))  # type: ignore[arg-type]


def test_what_the_model_is_asked_for() -> None:
    one = naming()
    assert one.inner(Ask(3)) == Ask(2)  # all it can list
    some = one.inner(Ask(1, 7, np.array([1, 3], np.int32)))
    assert some is not None
    assert (some.k, some.beam, some.allowed.tolist() if some.allowed is not None else None) == (1, 7, [1])
    assert one.inner(Ask(1, None, np.array([3], np.int32))) is None
    assert (one.nothing(2).labels == -1).all()


def test_scores_are_those_of_the_model_and_of_names() -> None:
    found = naming().mixed(LISTED, Corpus(["tax law"]), Ask(4), Runtime(threads=1))
    law, tax = (sum(part.share for part in naming().index.parts_of("tax law", label)) for label in (2, 0))
    assert found.labels.tolist() == [[2, 0, 1, -1]]
    np.testing.assert_allclose(found.scores, [[0.1 + law, 0.2 + 0.5 * tax, 0.6, 0]], rtol=1e-6)
    as_score = naming(kind="score").mixed(LISTED, Corpus(["tax law"]), Ask(4), Runtime(threads=1))
    np.testing.assert_allclose(as_score.scores, found.scores / 2, rtol=1e-6)  # none above 1
    assert as_score.kind == "score"


def test_parts_of_a_name_count_less_beside_the_whole() -> None:
    one, squared = naming(), naming(power=2)
    share = sum(part.share for part in one.index.parts_of("a law", 2))
    found = squared.mixed(LISTED, Corpus(["a law"]), Ask(4), Runtime(threads=1))
    assert found.scores[0, found.labels[0].tolist().index(2)] == pytest.approx(0.1 + share**2)
    assert sum(part.share for part in squared.evidence("a law", "tax law")) == pytest.approx(share**2)
    assert sum(part.share for part in one.evidence("a law", "tax law")) == pytest.approx(share)


def test_a_label_that_was_seen_meanwhile() -> None:
    again = naming().given(np.array([3, 0]))
    assert again.unseen.tolist() == [False, True, True, True]
    np.testing.assert_allclose(again.worth, [0.5, 1, 1, 1])


def test_stored_and_read_again_or_refused(tmp_path: Path) -> None:
    with Folder.create(tmp_path / "n", sealed=False) as folder:
        naming().save(folder)
    trained = LabelSpace(SPACE.names[:2])
    again = Naming.load(Folder.open(tmp_path / "n"), trained, np.array([4, 2]))
    assert again.space == SPACE
    assert again.unseen.tolist() == [False, False, True, True]
    text = Corpus(["tax law and plum"])
    assert again.mixed(LISTED, text, Ask(4), Runtime()) == naming().mixed(LISTED, text, Ask(4), Runtime())
    with pytest.raises(StoreError, match="names for 2 trained labels, the model has 3"):
        Naming.load(Folder.open(tmp_path / "n"), LabelSpace(["a", "b", "c"]), np.array([1, 1, 1]))
    about = tmp_path / "n" / "names.json"
    for damage in ({"weight": None}, {"kind": "guess"}, {"floor": 1e999}, {"power": 10**9}):
        whole = about.read_text()
        about.write_text(json.dumps(json.loads(whole) | damage))
        with pytest.raises(StoreError, match=r"names\.json"):
            Naming.load(Folder.open(tmp_path / "n"), trained, np.array([4, 2]))
        about.write_text(whole)


def test_facts_worth_showing() -> None:
    told = "weight 0.5, of unseen labels 1, power 1; 2 labels are known by name only"
    assert naming().describe() == {"label names": told}

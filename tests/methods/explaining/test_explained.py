"""Explanations of linear models: they add up, lead along the path, and say what they cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import planted
from treetop.data import Dataset
from treetop.errors import ConfigError, DataError, NotFittedError
from treetop.explanation import BIAS, REST, TFIDF
from treetop.labels import TreeConfig
from treetop.linear import LinearTree
from treetop.methods import Method, load
from treetop.methods.one_vs_all import OneVsAll
from treetop.methods.xr_linear import XRLinear
from treetop.sparse import from_parts
from treetop.text import TfidfConfig

TREE = TreeConfig(max_leaf=8, branching=4)
MAKERS: dict[str, Callable[[], Method[Any]]] = {
    "a tree": lambda: XRLinear(tree=TREE),
    "leaf scores": lambda: XRLinear(tree=TREE, linear={"search": {"combine": "last"}}),
    "pairs": lambda: XRLinear(tree=TREE, tfidf=TfidfConfig(word_ngrams=(1, 2), char_wb_ngrams=(3, 4))),
    "two trees": lambda: XRLinear(tree=TREE, trees=2, linear={"weights": "float16"}),
    "one-vs-all": OneVsAll,
}


@pytest.fixture(scope="module", params=MAKERS)
def model(request: pytest.FixtureRequest, toy_train: Dataset) -> Method[Any]:
    return MAKERS[request.param]().fit(toy_train)


def native_margins(tree: LinearTree, row: Any, label: int) -> list[float]:
    """The margins on the path to a label, as the search computes them."""
    path = tree.tree.path(label)
    found = []
    for level, node, parent in zip(tree.levels, path, [0, *path], strict=False):
        shortlist = from_parts(np.array([0, 1]), np.array([parent]), None, columns=level.parents)
        scores = level.score(row, shortlist, link="noop", combine="last")
        found.append(float(scores.toarray()[0, node]))
    return found


def test_words_and_bias_add_up_to_the_margins_of_the_search(model: Any, toy_test: Dataset) -> None:
    trees = model.linear if isinstance(model.linear, list) else [model.linear]
    for text in toy_test.corpus.texts[:30]:
        found = model.explain(text)
        row = model.tfidf.transform([text])
        native = [margin for tree in trees for margin in native_margins(tree, row, model.space.index[found.label])]
        np.testing.assert_allclose([step.margin for step in found.path], native, atol=1e-5)
        for step in found.path:
            assert sum(step.words) + step.parts[BIAS] == pytest.approx(step.margin, abs=1e-5)
            assert step.parts[REST] == pytest.approx(0, abs=1e-9)
        assert sum(word.contribution for word in found.words) + found.parts[BIAS] == pytest.approx(
            found.margin, abs=1e-5
        )
        assert sum(word.parts[TFIDF] for word in found.words) == pytest.approx(found.parts[TFIDF])
        assert all(text[word.start : word.end] == word.word for word in found.words)


def test_it_stands_where_predict_has_it(model: Method[Any], toy_test: Dataset) -> None:
    text = toy_test.corpus.texts[3]
    for rank, (label, score) in enumerate(model.predict([text], 4)[0], 1):
        found = model.explain(text, label)
        assert (found.label, found.rank, found.kind) == (label, rank, model.predict([text]).kind)
        assert found.score == pytest.approx(score, abs=1e-6)
        assert found.path[-1].labels == 1
        assert found.path[-1].examples == (label,)


def test_planted_words_are_found(model: Method[Any], toy_test: Dataset) -> None:
    right = []
    for text in toy_test.corpus.texts[:20]:
        found = model.explain(text)
        _, strongest = max(zip(found.path[-1].words, found.words, strict=True), key=lambda pair: pair[0])
        right.append(strongest.word.startswith(f"word{found.label[6]}x{found.label[8]}"))
    assert np.mean(right) > 0.8


def test_without_the_words_the_label_falls_below_the_threshold(model: Method[Any], toy_test: Dataset) -> None:
    for text in toy_test.corpus.texts[:10]:
        found = model.explain(text)
        if found.removal is None:
            assert found.score < (0 if found.kind == "margin" else 0.5)
            continue
        kept = " ".join(word for word in text.split() if word not in found.removal.words)
        again = model.explain(kept, found.label) if kept else None
        assert found.removal.enough
        assert found.removal.after < found.removal.threshold <= found.removal.before == found.score
        assert again is None or again.score == pytest.approx(found.removal.after, abs=1e-6)


def test_a_threshold_decides_what_must_go(toy_train: Dataset, toy_test: Dataset) -> None:
    model = XRLinear(tree=TREE).fit(toy_train)
    text = toy_test.corpus.texts[int(model.predict(toy_test).scores[:, 0].argmax())]
    sizes = [len(model.explain(text, threshold=limit).removal.words) for limit in (0.8, 0.4, 0.01)]  # type: ignore[union-attr]
    assert sizes == sorted(sizes)
    assert model.explain(text, threshold=1.1).removal is None
    with pytest.raises(ConfigError, match="only a calibrated model"):
        model.explain(text, threshold="f1")
    model.calibrate(toy_test)
    assert model.explain(text).kind == "probability"
    removal = model.explain(text).removal
    assert removal is not None
    assert removal.threshold == pytest.approx(model.calibration.threshold("f1"))  # type: ignore[union-attr]


def test_no_words_are_enough_where_the_bias_speaks_for_the_label() -> None:
    texts = ["stone"] * 8 + ["fish"]
    model = OneVsAll().fit(texts, [["all"]] * 8 + [["all", "fish"]])
    found = model.explain("fish", "all")
    assert found.removal is not None
    assert not found.removal.enough
    assert found.removal.after >= 0


def test_texts_alike_are_shown_if_they_were_kept(toy_train: Dataset, toy_test: Dataset, tmp_path: Path) -> None:
    model, text = XRLinear(tree=TREE).fit(toy_train), toy_test.corpus.texts[0]
    assert model.explain(text).nearest == ()
    model.save(tmp_path / "plain")
    assert not (tmp_path / "plain" / "kept").exists()
    found = model.keep_texts(toy_train).explain(text)
    assert 0 < len(found.nearest) <= 3
    assert all(found.label in near.labels for near in found.nearest)
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").explain(text) == found
    assert len(model.explain(text, nearest=1).nearest) == 1
    other = planted(50, seed=9)
    assert load(tmp_path / "plain").keep_texts(other).explain(text).nearest != found.nearest
    assert model.fit(toy_train).kept is None


def test_what_cannot_be_explained_is_told(toy_train: Dataset) -> None:
    model = XRLinear(tree=TREE).fit(toy_train)
    for text, label, message in (
        ("", None, "the text is empty"),
        (" \n", None, "the text is empty"),
        (7, None, "the text is 7, a int"),
        ("!? xyzzy", None, "the model knows no word of the text '!. xyzzy'"),
        ("topic1", "label 1_2", "there is no label 'label 1_2'.*label 1-2"),
    ):
        with pytest.raises(DataError, match=message):
            model.explain(text, label)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="nearest is -1"):
        model.explain("topic1", nearest=-1)
    with pytest.raises(NotFittedError):
        XRLinear().explain("topic1")
    assert model.tfidf is not None
    features = model.tfidf.transform(toy_train.corpus.texts)
    given = replace(toy_train, corpus=replace(toy_train.corpus, texts=(), features=features))
    with pytest.raises(DataError, match="ready-made features"):
        XRLinear(tree=TREE).fit(given).explain("topic1")
    with pytest.raises(DataError, match="no texts to keep"):
        model.keep_texts(given)

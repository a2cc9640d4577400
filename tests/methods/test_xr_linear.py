from __future__ import annotations

import numpy as np
import pytest

from treetop.data import Dataset
from treetop.errors import ConfigError, DataError
from treetop.labels import LabelTree, TreeConfig
from treetop.methods.xr_linear import XRLinear, XRLinearConfig
from treetop.metrics import evaluate

SMALL = TreeConfig(max_leaf=8, branching=4)


def p_at_1(model: XRLinear, test: Dataset) -> float:
    return evaluate(model.predict(test, k=1), test.labels, ["p@1"])["p@1"]


def test_a_tree_of_your_own(toy_train: Dataset, toy_test: Dataset) -> None:
    topics = [name.split()[1].split("-")[0] for name in toy_train.space.names]
    tree = LabelTree.from_paths([(topic,) for topic in topics])
    model = XRLinear(tree=tree).fit(toy_train)
    assert model.label_tree() is tree
    assert p_at_1(model, toy_test) > 0.9


@pytest.mark.parametrize("representation", ["pifa-plain", "text", "pifa+text"])
def test_representations(representation: str, toy_train: Dataset, toy_test: Dataset) -> None:
    space = toy_train.space.with_texts({name: name.replace("-", " of ") for name in toy_train.space.names})
    train = Dataset(toy_train.corpus, toy_train.labels, space)
    config = XRLinearConfig(representation=representation, tree=SMALL)  # type: ignore[arg-type]
    assert p_at_1(XRLinear(config).fit(train), toy_test) > 0.85


def test_label_texts_are_needed_to_use_them(toy_train: Dataset) -> None:
    with pytest.raises(DataError, match="needs label texts"):
        XRLinear(XRLinearConfig(representation="text")).fit(toy_train)


def test_trees_differ_and_their_scores_are_averaged(toy_train: Dataset, toy_test: Dataset) -> None:
    model = XRLinear(XRLinearConfig(trees=2, tree=SMALL)).fit(toy_train)
    first, second = model.linear
    assert not np.array_equal(first.tree.parents[-1], second.tree.parents[-1])
    features = model.tfidf.transform(toy_test.corpus.texts[:1])  # type: ignore[union-attr]
    apart = [tree.predict(features, 42).to_csr(42).toarray()[0] for tree in model.linear]
    joint = model.predict(toy_test.corpus.texts[:1], k=1)
    label = joint.labels[0, 0]
    assert joint.scores[0, 0] == pytest.approx(np.mean([scores[label] for scores in apart]), abs=1e-6)


def test_the_estimate_of_memory_grows_with_the_work(toy_train: Dataset) -> None:
    one = XRLinear().memory_estimate(toy_train)
    three = XRLinear(XRLinearConfig(trees=3)).memory_estimate(toy_train)
    assert 0 < one < three


def test_at_least_one_tree() -> None:
    with pytest.raises(ConfigError, match="at least one"):
        XRLinearConfig(trees=0)

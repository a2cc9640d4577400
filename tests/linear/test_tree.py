from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from listening import Kept
from treetop import kernels
from treetop.errors import ConfigError, DataError, StoreError
from treetop.labels import LabelTree, TreeConfig, grow_tree, pifa
from treetop.linear import LinearTree, LinearTreeConfig, SearchConfig, SolverConfig
from treetop.linear.level import everyone
from treetop.runtime import Runtime
from treetop.sparse import AnyFeatures, canonical, join, take_rows
from treetop.store import Folder
from treetop.types import CSR

RANDOM = np.random.default_rng(7)
TEXTS, LABELS, COLUMNS = 300, 24, 60


def planted() -> tuple[CSR, CSR]:
    """Labels that show in three columns of their own, and columns of noise."""
    labels = np.zeros((TEXTS, LABELS), np.float32)
    for row in labels:
        row[RANDOM.choice(LABELS, int(RANDOM.integers(1, 3)), replace=False)] = 1
    signal = np.zeros((LABELS, COLUMNS), np.float32)
    for label in range(LABELS):
        signal[label, RANDOM.choice(COLUMNS, 3, replace=False)] = 1
    features = labels @ signal + (RANDOM.random((TEXTS, COLUMNS)) < 0.02)
    return canonical(features), canonical(labels)


SPARSE, TRUE = planted()
EMBEDDING = np.asarray(SPARSE @ RANDOM.standard_normal((COLUMNS, 32)) / 6, np.float32)
TREE = grow_tree(pifa(SPARSE, TRUE), TreeConfig(max_leaf=4, branching=2), seed=0)


def first_is_right(linear: LinearTree, features: AnyFeatures) -> float:
    best = linear.predict(features, k=1).labels[:, 0]
    return float(TRUE.toarray()[np.arange(TEXTS), best].mean())


@pytest.mark.parametrize("negatives", ["teacher", "matcher", "both"])
@pytest.mark.parametrize("relevance", ["off", "count", "labels"])
def test_negatives_and_relevance(negatives: str, relevance: str) -> None:
    config = LinearTreeConfig(negatives=negatives, relevance=relevance)  # type: ignore[arg-type]
    assert first_is_right(LinearTree.fit(SPARSE, TRUE, TREE, config), SPARSE) > 0.95


@pytest.mark.parametrize("features", [EMBEDDING, join(SPARSE, EMBEDDING)], ids=["dense", "joined"])
def test_dense_and_joined_features(features: AnyFeatures) -> None:
    config = LinearTreeConfig(solver=SolverConfig(c_positive=10.0, c_negative=10.0))
    assert first_is_right(LinearTree.fit(features, TRUE, TREE, config), features) > 0.8


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_losses_with_their_links(loss: str) -> None:
    link = "sigmoid" if loss == "logistic" else "l3-hinge"
    config = LinearTreeConfig(
        solver=SolverConfig(loss=loss, c_positive=10.0, c_negative=10.0),  # type: ignore[arg-type]
        search=SearchConfig(link=link),  # type: ignore[arg-type]
    )
    linear = LinearTree.fit(SPARSE, TRUE, TREE, config)
    found = linear.predict(SPARSE, k=3)
    assert first_is_right(linear, SPARSE) > 0.9
    assert found.scores.max() <= 1
    assert found.scores.min() >= 0


def test_costs_are_those_of_the_paper() -> None:
    """R of a level is R of the level below times the membership, each text's row scaled to one (eq. 6)."""
    from treetop.linear.tree import _costs

    tree = LabelTree.from_groups([[0, 1], [2]])
    labels = canonical(np.array([[1, 1, 1], [1, 0, 0]], np.float32))
    top, leaf = (_costs(labels, tree, level, LinearTreeConfig(relevance="count")) for level in range(2))
    np.testing.assert_allclose(top.toarray(), [[2 / 3, 1 / 3], [1.0, 0.0]])
    np.testing.assert_allclose(leaf.toarray(), [[1 / 3, 1 / 3, 1 / 3], [1.0, 0.0, 0.0]])
    plain = _costs(labels, tree, 0, LinearTreeConfig(relevance="count", relevance_norm="none"))
    np.testing.assert_allclose(plain.toarray(), [[2, 1], [1, 0]])


@pytest.mark.parametrize(("link", "combine"), [("l3-hinge", "multiply"), ("l3-hinge", "last"), ("noop", "last")])
def test_negatives_are_those_that_prediction_reaches(link: str, combine: str) -> None:
    from treetop.linear.tree import reach

    search = SearchConfig(link=link, combine=combine, beam=2)  # type: ignore[arg-type]
    linear = LinearTree.fit(SPARSE, TRUE, TREE, LinearTreeConfig(search=search))
    inner = linear.levels[:-1]
    assert len(inner) > 1
    found = None
    for level in inner:
        found = reach(level, SPARSE, found, search, Runtime(threads=1))
    nodes, _ = kernels.Searcher([level.arrays for level in inner]).search(
        SPARSE,
        None,
        beams=[2] * (len(inner) - 1),
        k=2,
        link=search.link,
        combine="last" if link == "noop" else "multiply",
    )
    assert found is not None
    np.testing.assert_array_equal(found.indices.reshape(TEXTS, 2), np.sort(nodes, axis=1))


@pytest.mark.parametrize("features", [SPARSE, join(SPARSE, EMBEDDING)], ids=["sparse", "joined"])
def test_more_than_there_is(features: AnyFeatures) -> None:
    """More labels than there are, a beam wider than a level, texts without a word: one by one as all at once."""
    linear = LinearTree.fit(features, TRUE, TREE)
    empty = canonical(np.zeros((2, COLUMNS), np.float32))
    some = empty if features is SPARSE else join(empty, np.zeros((2, EMBEDDING.shape[1]), np.float32))
    for texts in (some, take_rows(features, np.arange(3))):
        found = linear.predict(texts, LABELS + 5, beam=10 * LABELS)
        np.testing.assert_array_equal(np.sort(found.labels[:, :LABELS]), np.tile(np.arange(LABELS), (len(found), 1)))
        assert (found.labels[:, LABELS:] == -1).all()
        assert (found.scores[:, LABELS:] == 0).all()
        one = linear.predict(take_rows(texts, np.arange(1)), LABELS + 5, beam=10 * LABELS)
        np.testing.assert_array_equal(one.labels, found.labels[:1])
        np.testing.assert_array_equal(one.scores, found.scores[:1])


def test_a_tree_of_one_label() -> None:
    tree = LabelTree.from_groups([[0]])
    linear = LinearTree.fit(SPARSE, canonical(np.ones((TEXTS, 1), np.float32)), tree)
    found = linear.predict(SPARSE, 3)
    assert (found.labels == [0, -1, -1]).all()
    np.testing.assert_array_equal(linear.predict(canonical(SPARSE[[4]]), 3).scores, found.scores[[4]])


@pytest.mark.parametrize(("kind", "size"), [("float16", 2), ("int8", 1)])
@pytest.mark.parametrize("features", [SPARSE, join(SPARSE, EMBEDDING)], ids=["sparse", "joined"])
def test_small_weights_keep_the_answers(kind: kernels.WeightType, size: int, features: AnyFeatures) -> None:
    full = LinearTree.fit(features, TRUE, TREE, LinearTreeConfig(weights="float32"))
    small = LinearTree.fit(features, TRUE, TREE, LinearTreeConfig(weights=kind))
    assert small.levels[-1].arrays["entry_value"].itemsize == size
    assert (full.predict(features, 1).labels == small.predict(features, 1).labels).mean() > 0.97


def test_more_beam_never_loses_the_best() -> None:
    linear = LinearTree.fit(SPARSE, TRUE, TREE)
    narrow, wide = linear.predict(SPARSE, 1, beam=1), linear.predict(SPARSE, 1, beam=100)
    assert np.all(wide.scores >= narrow.scores - 1e-6)


def test_one_text_is_as_many(tmp_path: Path) -> None:
    linear = LinearTree.fit(SPARSE, TRUE, TREE)
    with Folder.create(tmp_path / "m") as folder:
        linear.save(folder)
    mapped = LinearTree.load(Folder.open(tmp_path / "m"), linear.search)
    whole = linear.predict(SPARSE, 5)
    for row in (0, 7, TEXTS - 1):
        one = mapped.predict(canonical(SPARSE[[row]]), 5)
        np.testing.assert_array_equal(one.labels[0], whole.labels[row])
        np.testing.assert_array_equal(one.scores[0], whole.scores[row])


@pytest.mark.parametrize(
    "name", ["row_feature", "entry_ptr", "entry_child", "children", "children_ptr", "row_ptr", "entry_turn"]
)
@pytest.mark.parametrize("level", [0, -1])
def test_damage_in_a_file_is_an_error_that_names_it(tmp_path: Path, level: int, name: str) -> None:
    """Any index of any level, far out of range: refused at loading, or when the search comes to it, on every path."""
    linear = LinearTree.fit(SPARSE, TRUE, TREE)
    number = range(len(linear.levels))[level]
    array = linear.levels[level].arrays[name] = linear.levels[level].arrays[name].copy()
    array[len(array) // 2] = np.iinfo(array.dtype).max // 2
    with Folder.create(tmp_path / "m") as folder:
        linear.save(folder)
    for texts in (SPARSE, canonical(SPARSE[[0]])):
        with pytest.raises(StoreError, match=f"level-{number}.safetensors: "):
            LinearTree.load(Folder.open(tmp_path / "m"), linear.search).predict(texts, LABELS, beam=LABELS)


def test_levels_of_another_tree_are_refused(tmp_path: Path) -> None:
    linear = LinearTree.fit(SPARSE, TRUE, TREE)
    with Folder.create(tmp_path / "m") as folder:
        linear.save(folder)
        LabelTree.from_groups([list(range(LABELS))]).save(folder)
    with pytest.raises(StoreError, match="do not belong together"):
        LinearTree.load(Folder.open(tmp_path / "m"), linear.search)


def test_another_matcher_can_add_to_the_shortlist() -> None:
    everything = canonical(np.ones((TEXTS, TREE.widths[-2]), np.float32))
    assert first_is_right(LinearTree.fit(SPARSE, TRUE, TREE, matched=everything), SPARSE) > 0.95


def test_progress_and_threads_do_not_change_the_model() -> None:
    plain = LinearTree.fit(SPARSE, TRUE, TREE, runtime=Runtime(threads=1))
    shown = LinearTree.fit(SPARSE, TRUE, TREE, runtime=Runtime(threads=2, progress=Kept()))
    for one, two in zip(plain.levels, shown.levels, strict=True):
        for name, array in one.arrays.items():
            np.testing.assert_array_equal(array, two.arrays[name])


def test_mistakes() -> None:
    linear = LinearTree.fit(SPARSE, TRUE, TREE)
    with pytest.raises(DataError, match="59 columns"):
        linear.predict(canonical(SPARSE[:, :59]))
    with pytest.raises(DataError, match="the tree 24 labels"):
        LinearTree.fit(SPARSE, canonical(TRUE[:, :23]), TREE)
    with pytest.raises(ConfigError, match="at least one"):
        linear.predict(SPARSE, 0)
    with pytest.raises(ConfigError, match="beam"):
        SearchConfig(beam=0)
    with pytest.raises(ConfigError, match="noop"):
        SearchConfig(link="noop")
    assert everyone(3).toarray().tolist() == [[1], [1], [1]]


@pytest.mark.parametrize("features", [SPARSE, join(SPARSE, EMBEDDING)], ids=["sparse", "joined"])
def test_allowed_labels_alone_are_found_with_their_own_scores(features: AnyFeatures) -> None:
    linear = LinearTree.fit(features, TRUE, TREE)
    allowed = [3, 17, 4, 20]
    everything = linear.predict(features, LABELS, beam=LABELS)
    some = linear.predict(features, 6, beam=LABELS, allowed=allowed)
    for row in range(TEXTS):
        kept = np.isin(everything.labels[row], allowed)
        np.testing.assert_array_equal(some.labels[row], [*everything.labels[row][kept], -1, -1])
        np.testing.assert_array_equal(some.scores[row][:4], everything.scores[row][kept])
    narrow = linear.predict(features, 6, beam=1, allowed=allowed)
    alone = linear.predict(take_rows(features, slice(5, 6)), 6, beam=1, allowed=np.array(allowed))
    assert (narrow.labels[:, 0] >= 0).all()
    assert set(narrow.labels.ravel().tolist()) <= {*allowed, -1}
    np.testing.assert_array_equal(alone.labels[0], narrow.labels[5])
    np.testing.assert_array_equal(alone.scores[0], narrow.scores[5])


@pytest.mark.parametrize("allowed", [[], [0, LABELS], [-1], [0.5], ["a"]])
def test_allowed_labels_that_do_not_exist_are_refused(allowed: Any) -> None:
    linear = LinearTree.fit(SPARSE, TRUE, TREE)
    with pytest.raises(DataError, match=f"give some numbers from 0 to {LABELS - 1}"):
        linear.predict(SPARSE, allowed=allowed)

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from elsewhere import Elsewhere
from treetop import kernels
from treetop.errors import ConfigError, DataError
from treetop.labels import LabelTree
from treetop.labels.tree import children_of
from treetop.linear import WeightType
from treetop.linear.level import LinearLevel, SolverConfig, everyone
from treetop.runtime import Runtime
from treetop.sparse import Joined, binarise, canonical, join
from treetop.store import Folder
from treetop.types import CSR, Ids

KINDS: tuple[WeightType, ...] = ("float32", "float16")
RANDOM = np.random.default_rng(5)
TEXTS, NODES, PARENTS = 120, 821, 22
TREE = LabelTree.from_groups([[0, 3, 4], [1, 2], [5]])
LABELS = canonical((RANDOM.random((80, 6)) < 0.3).astype(np.float32))
DENSE = (LABELS.toarray() @ RANDOM.standard_normal((6, 12)) + 0.1).astype(np.float32)


def test_a_level_saves_and_loads(tmp_path: object) -> None:
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    level = LinearLevel.fit(DENSE, LABELS, TREE.lift(LABELS, 0), TREE.parents[1], SolverConfig())
    with Folder.create(tmp_path / "m") as folder:
        level.save(folder, "level-1")
    again = LinearLevel.load(Folder.open(tmp_path / "m"), "level-1")
    assert (again.parents, again.nodes) == (3, 6)
    for name, array in level.arrays.items():
        np.testing.assert_array_equal(array, again.arrays[name])


def test_threads_do_not_matter() -> None:
    features = join(canonical(DENSE * (RANDOM.random(DENSE.shape) < 0.4)), DENSE)
    shortlist = TREE.lift(LABELS, 0)
    one, two = (
        LinearLevel.fit(features, LABELS, shortlist, TREE.parents[1], SolverConfig(), runtime=Runtime(threads=threads))
        for threads in (1, 2)
    )
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, two.arrays[name])


def wide_level() -> tuple[Joined, CSR, CSR, Ids]:
    """Parents of very different sizes: the first is so large a share that it is trained in pieces, the next are not."""
    sizes = [80, *[40] * 18, 1, 20, 0]
    rng = np.random.default_rng(8)
    parents = rng.permutation(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
    true = canonical((rng.random((TEXTS, NODES)) < 0.02).astype(np.float32))
    shortlist = canonical((rng.random((TEXTS, PARENTS)) < 0.4).astype(np.float32))
    dense = (true.toarray() @ rng.standard_normal((NODES, 8))).astype(np.float32)
    return join(canonical(rng.random((TEXTS, 50)) < 0.2), dense), true, shortlist, parents


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("size", [1, 2, 16, 50, 100])
def test_any_division_into_blocks_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch, size: int, loss: Any) -> None:
    whole = LinearLevel.fit(*wide_level(), SolverConfig(loss=loss))
    monkeypatch.setattr("treetop.linear.level._NODES_AT_ONCE", size)
    parts = LinearLevel.fit(*wide_level(), SolverConfig(loss=loss))
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(array, parts.arrays[name])


@pytest.mark.parametrize("spilled", [False, True])
def test_a_level_that_others_train_has_the_same_bits(monkeypatch: pytest.MonkeyPatch, spilled: bool) -> None:
    whole = LinearLevel.fit(*wide_level(), SolverConfig(), costs=True)
    monkeypatch.setattr("treetop.linear.level._NODES_ELSEWHERE", 100)
    if spilled:
        monkeypatch.setattr("treetop.kernels.runs._MOST_HELD", 0)
    workers = Elsewhere()
    parts = LinearLevel.fit(*wide_level(), SolverConfig(), costs=True, runtime=Runtime(workers=workers))
    assert workers.done[0] > 5
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(array, parts.arrays[name])


@settings(max_examples=20, deadline=None)
@given(st.sets(st.integers(1, PARENTS - 1)), st.sampled_from(["squared_hinge", "logistic"]))
def test_parents_on_their_own_rows_renumbered_have_the_same_bits(cuts: set[int], loss: Any) -> None:
    """What a machine would need that is sent a block: its texts alone, under new numbers."""
    features, true, shortlist, parents = wide_level()
    whole = LinearLevel.fit(features, true, shortlist, parents, SolverConfig(loss=loss)).all_weights()
    starts, nodes = children_of(parents, PARENTS)
    by_parent, by_node = canonical(shortlist.T), canonical(true.T)[nodes]
    cost = kernels.training_cost(starts, by_parent.indptr, by_node.indptr)
    bounds = [0, *sorted(cuts), PARENTS]
    for first, last in itertools.pairwise(bounds):
        low, high = starts[first], starts[last]
        rows = np.unique(np.concatenate([by_parent[first:last].indices, by_node[low:high].indices]))
        own, ours = canonical(by_parent[first:last, rows]), canonical(by_node[low:high, rows])
        some = kernels.train_nodes(
            kernels.TrainingFeatures(canonical(features.sparse[rows]), np.ascontiguousarray(features.dense[rows])),
            children_ptr=starts[first : last + 1] - low, children=nodes[low:high],
            shortlisted_ptr=own.indptr.astype(np.int64), shortlisted=own.indices,
            positive_ptr=ours.indptr.astype(np.int64), positive=ours.indices,
            first_child=int(low), level_cost=cost, loss=loss,
        )  # fmt: skip
        np.testing.assert_array_equal(some.sparse.toarray(), whole.sparse[nodes[low:high]].toarray())
        assert some.dense is not None
        assert whole.dense is not None
        np.testing.assert_array_equal(some.dense, whole.dense[nodes[low:high]])
        np.testing.assert_array_equal(some.bias, whole.bias[nodes[low:high]])


def test_every_weight_can_be_read_back() -> None:
    features, true, shortlist, parents = wide_level()
    level = LinearLevel.fit(features, true, shortlist, parents, SolverConfig(threshold=0.0))
    everything = level.all_weights()
    assert everything.dense is not None
    margins = features.sparse @ everything.sparse.T + features.dense @ everything.dense.T + everything.bias
    scores = level.score(features, everyone(TEXTS, PARENTS), link="noop", combine="last")
    np.testing.assert_allclose(scores.toarray(), margins, atol=1e-5)
    for node in (0, 7, NODES - 1):
        columns, values, bias = level.weights_of(node)
        row = np.zeros(features.shape[1], np.float32)
        row[columns] = values
        np.testing.assert_array_equal(row, [*everything.sparse[[node]].toarray()[0], *everything.dense[node]])
        assert bias == everything.bias[node]
    with pytest.raises(DataError, match=f"no node {NODES}; the level has nodes 0 to {NODES - 1}"):
        level.weights_of(NODES)


def test_weights_are_stored_as_asked() -> None:
    full, half = (LinearLevel.fit(*wide_level(), SolverConfig(), weights=kind) for kind in KINDS)
    np.testing.assert_array_equal(half.arrays["entry_value"], full.arrays["entry_value"].astype(np.float16))
    assert half.weights == full.weights


def test_a_level_scores_shortlisted_and_allowed_nodes() -> None:
    features, true, shortlist, parents = wide_level()
    level = LinearLevel.fit(features, true, shortlist, parents, SolverConfig())
    everything = level.score(features, everyone(TEXTS, PARENTS)).toarray()
    allowed = np.arange(NODES) % 3 == 0
    some = level.score(features, shortlist, combine="last", allowed=allowed)
    competes = shortlist.toarray()[:, parents] * allowed > 0
    np.testing.assert_array_equal(np.diff(some.indptr), competes.sum(1))
    np.testing.assert_allclose(some.toarray(), everything * competes, rtol=1e-5)
    best = level.score(features, everyone(TEXTS, PARENTS), keep=1).toarray()
    np.testing.assert_allclose(best.max(1), everything.max(1), rtol=1e-5)


def test_without_a_shortlist_everyone_competes() -> None:
    features, true, _, parents = wide_level()
    free, all_of_them = (
        LinearLevel.fit(features, true, shortlist, parents, SolverConfig())
        for shortlist in (None, everyone(TEXTS, PARENTS))
    )
    np.testing.assert_array_equal(free.arrays["bias"], all_of_them.arrays["bias"])


def test_shapes_must_fit() -> None:
    with pytest.raises(DataError, match="do not fit"):
        LinearLevel.fit(DENSE[:10], LABELS, everyone(80), TREE.parents[1], SolverConfig())
    with pytest.raises(DataError, match="do not fit"):
        LinearLevel.fit(DENSE, binarise(LABELS), everyone(80), TREE.parents[1], SolverConfig())


@pytest.mark.parametrize(
    "values", [{"eps": 0.0}, {"c_positive": -1.0}, {"bias": -1.0}, {"max_iter": 0}, {"threshold": float("nan")}]
)
def test_impossible_settings(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(values))):
        SolverConfig(**values)  # type: ignore[arg-type]

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treetop.errors import ConfigError, DataError
from treetop.labels import LabelTree
from treetop.linear import WeightType
from treetop.linear.level import LinearLevel, SolverConfig, blocks_of, everyone
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


def test_blocks_cover_all_parents_in_order() -> None:
    starts = np.array([0, 5, 5, 30, 31, 40], np.int64)
    assert blocks_of(starts, 10) == [(0, 2), (2, 3), (3, 5)]
    assert blocks_of(starts, 1000) == [(0, 5)]
    assert blocks_of(np.array([0, 0], np.int64), 4) == [(0, 1)]


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

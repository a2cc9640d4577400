from __future__ import annotations

import numpy as np
import pytest

from treetop.errors import ConfigError, DataError
from treetop.labels import LabelTree
from treetop.linear.level import LinearLevel, SolverConfig, blocks_of
from treetop.linear.tree import everyone
from treetop.runtime import Runtime
from treetop.sparse import binarise, canonical, join
from treetop.store import Folder

RANDOM = np.random.default_rng(5)
TREE = LabelTree.from_groups([[0, 3, 4], [1, 2], [5]])
LABELS = canonical((RANDOM.random((80, 6)) < 0.3).astype(np.float32))
DENSE = (LABELS.toarray() @ RANDOM.standard_normal((6, 12)) + 0.1).astype(np.float32)


def test_a_level_saves_and_loads(tmp_path: object) -> None:
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    level = LinearLevel.fit(DENSE, LABELS, TREE.lift(LABELS, 0), TREE, 1, SolverConfig())
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
        LinearLevel.fit(features, LABELS, shortlist, TREE, 1, SolverConfig(), runtime=Runtime(threads=threads))
        for threads in (1, 2)
    )
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, two.arrays[name])


def test_blocks_cover_all_parents_in_order() -> None:
    starts = np.array([0, 5, 5, 30, 31, 40], np.int64)
    assert blocks_of(starts, 10) == [(0, 2), (2, 3), (3, 5)]
    assert blocks_of(starts, 1000) == [(0, 5)]
    assert blocks_of(np.array([0, 0], np.int64), 4) == [(0, 1)]


def test_training_in_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shortlist = TREE.lift(LABELS, 0)
    whole = LinearLevel.fit(DENSE, LABELS, shortlist, TREE, 1, SolverConfig())
    monkeypatch.setattr("treetop.linear.level._NODES_AT_ONCE", 2)
    parts = LinearLevel.fit(DENSE, LABELS, shortlist, TREE, 1, SolverConfig())
    np.testing.assert_array_equal(whole.arrays["children"], parts.arrays["children"])
    np.testing.assert_allclose(whole.arrays["dense"], parts.arrays["dense"], atol=0.05)


def test_shapes_must_fit() -> None:
    with pytest.raises(DataError, match="do not fit"):
        LinearLevel.fit(DENSE[:10], LABELS, everyone(80), TREE, 1, SolverConfig())
    with pytest.raises(DataError, match="do not fit"):
        LinearLevel.fit(DENSE, binarise(LABELS), everyone(80), TREE, 1, SolverConfig())


@pytest.mark.parametrize(
    "values", [{"eps": 0.0}, {"c_positive": -1.0}, {"bias": -1.0}, {"max_iter": 0}, {"threshold": float("nan")}]
)
def test_impossible_settings(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(values))):
        SolverConfig(**values)  # type: ignore[arg-type]

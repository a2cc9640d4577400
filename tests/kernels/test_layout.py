from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse as sp

from random_levels import Weights, assert_agrees, assert_same_bits, csr, narrowed, random_level, random_texts, split
from treetop import kernels
from treetop.errors import DataError
from treetop.kernels.packed_checks import check_level
from treetop.kernels.reference import layout as oracle
from treetop.types import CSR

PAGES = {"one page": 300, "three pages": 150_000, "more pages than are worth it": 5_000_000}


def far_apart(rng: np.random.Generator, rows: int, columns: int, size: int) -> CSR:
    """Random entries of which some share columns."""
    known = rng.integers(0, columns, 60)
    place = rng.integers(0, rows, size), rng.choice(known, size)
    return csr(sp.coo_array((rng.normal(size=size), place), shape=(rows, columns)))


def wide_level(rng: np.random.Generator, columns: int, parents: int, nodes: int, kind: Any = "float32") -> Any:
    weights = Weights(far_apart(rng, nodes, columns, 12 * nodes), None, rng.normal(size=nodes).astype(np.float32))
    starts = np.array([0, nodes]) if parents == 1 else split(rng, nodes, parents)
    return kernels.pack(weights, starts, rng.permutation(nodes).astype(np.int32), kind=kind)


@pytest.mark.parametrize("columns", PAGES.values(), ids=PAGES.keys())
def test_levels_are_stored_as_the_reference_says(columns: int) -> None:
    level = wide_level(np.random.default_rng(1), columns, 9, 80)
    stored, expected = narrowed(level), oracle.narrow(level)
    assert stored.keys() == expected.keys()
    assert_same_bits([stored[name] for name in expected], expected.values())
    again = oracle.plain(stored)
    assert_same_bits([again[name] for name in level], level.values())


@pytest.mark.parametrize("columns", PAGES.values(), ids=PAGES.keys())
@pytest.mark.parametrize("kind", ["float32", "int8"])
def test_features_on_many_pages_are_found(columns: int, kind: Any) -> None:
    rng = np.random.default_rng(2)
    levels = [wide_level(rng, columns, *shape, kind=kind) for shape in ((1, 5), (5, 60))]
    known = np.unique(np.concatenate([level["row_feature"] for level in levels]))
    texts = csr(sp.coo_array((rng.normal(size=200), (np.sort(rng.integers(0, 20, 200)), rng.choice(known, 200))),
                             shape=(20, columns)))  # fmt: skip
    _, scores = assert_agrees(levels, texts, None, beams=[3], k=9)
    assert len(np.unique(scores)) > 50


@pytest.mark.parametrize("parents", [1, 7])
def test_offsets_that_begin_anew_lead_to_their_entries(parents: int) -> None:
    """Rows of 2,000 entries and of few, 200,000 in all, of one parent and of several."""
    rng = np.random.default_rng(3)
    level = random_level(rng, parents, 2000, 400, density=0.25)
    assert len(narrowed(level)["entry_turn"]) == 1 + len(level["entry_child"]) // 65_536 > 3
    texts, _ = random_texts(rng, 6, 400, density=0.1)
    shortlist = None if parents == 1 else csr(np.ones((6, parents)))
    given, stored = (kernels.score_level(kind, texts, None, shortlist) for kind in (level, narrowed(level)))
    assert_same_bits([stored.indices, stored.data], [given.indices, given.data])
    if parents == 1:
        assert_agrees([level], texts, None, beams=[], k=20)


def test_a_row_of_more_than_65536_entries_is_one_row() -> None:
    nodes = 140_000
    weights = Weights(csr(np.arange(1, nodes + 1)[:, None] / nodes), None, np.zeros(nodes, np.float32))
    level = narrowed(kernels.pack(weights, np.array([0, nodes]), np.arange(nodes, dtype=np.int32)))
    assert level["entry_turn"].tolist() == [1, 1, 2]
    labels, _ = kernels.Searcher([level]).search(csr([[1.0]]), None, beams=[], k=3)
    one, _ = kernels.Searcher([level]).search_one(np.zeros(1, np.int32), np.ones(1, np.float32), beams=[], k=3)
    assert labels[0].tolist() == one.tolist() == [nodes - 1, nodes - 2, nodes - 3]


@pytest.mark.parametrize("kind", ["float32", "float16", "int8"])
@pytest.mark.parametrize("columns", PAGES.values(), ids=PAGES.keys())
def test_what_was_stored_can_be_read_back(columns: int, kind: Any) -> None:
    level = wide_level(np.random.default_rng(4), columns, 9, 80, kind=kind)
    stored = narrowed(level)
    for first, last in ((0, 9), (3, 4), (2, 7)):
        found, expected = kernels.unpack(stored, first, last), kernels.unpack(level, first, last)
        np.testing.assert_array_equal(found.sparse.indices, expected.sparse.indices)
        np.testing.assert_array_equal(found.sparse.data, expected.sparse.data)
        for parent in range(first, last):
            places = int(np.diff(level["children_ptr"])[parent])
            asked = np.unique(level["row_feature"])[::3].astype(np.int32)
            for place in range(0, places, 4):
                ours, theirs = (kernels.weights_of_child(one, parent, place, asked)[0] for one in (stored, level))
                np.testing.assert_array_equal(ours, theirs)


def test_weights_in_bytes_are_within_half_a_step() -> None:
    level = wide_level(np.random.default_rng(5), 300, 1, 80, kind="int8")
    weights = wide_level(np.random.default_rng(5), 300, 1, 80)
    ours, theirs = (kernels.unpack(one, 0, 1).sparse.toarray() for one in (level, weights))
    assert np.all(np.abs(ours - theirs) <= np.abs(theirs).max(1, keepdims=True) / 127 / 2 * 1.0001)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"entry_turn": np.array([1, 1])}, "entry_turn has 2 elements"),
        ({"entry_turn": np.array([2])}, "entry_turn does not rise to"),
        ({"entry_turn": None}, "no array 'entry_turn'"),
        ({"scale": None}, "no array 'scale'"),
        ({"scale": np.ones(3, np.float32)}, "scale has 3 elements"),
        ({"row_ptr": np.zeros(10, np.int64)}, "row_ptr has 10 elements where 28"),
    ],
)
def test_damage_of_what_is_stored_is_refused(change: dict[str, Any], message: str) -> None:
    level = narrowed(wide_level(np.random.default_rng(6), 150_000, 9, 80, kind="int8"))
    check_level(level)
    changed = {name: array for name, array in (level | change).items() if array is not None}
    with pytest.raises(DataError, match=message):
        check_level(changed)

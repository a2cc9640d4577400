from __future__ import annotations

import numpy as np
import pytest
import torch

from counting import Counting
from treetop.neural import shortlist as shortlist_module
from treetop.neural.shortlist import EMPTY, Children, added, expand, expand_scores, pick, targets

NODES = 40


def sets(padded: torch.Tensor) -> list[list[int]]:
    """Rows without their empty places, which must all be at the end of what is there to lose nothing."""
    return [[int(n) for n in row if n != EMPTY] for row in padded]


def some_rows(rng: np.random.Generator, rows: int = 6, most: int = 9) -> torch.Tensor:
    padded = np.full((rows, most), EMPTY)
    for row in padded:
        size = int(rng.integers(0, most + 1))
        row[:size] = rng.choice(NODES, size, replace=False)
    return torch.from_numpy(padded)


@pytest.fixture(params=range(5))
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


@pytest.fixture
def children(rng: np.random.Generator) -> tuple[Children, list[list[int]]]:
    parent = rng.integers(0, NODES, 100)
    parent[parent == 3] = 4  # node 3 has no children
    families = [np.flatnonzero(parent == p).tolist() for p in range(NODES)]
    ptr = np.cumsum([0, *map(len, families)])
    return Children(ptr, np.concatenate([np.array(f, np.int32) for f in families])), families


def test_expand_gives_the_children_in_order(
    rng: np.random.Generator, children: tuple[Children, list[list[int]]]
) -> None:
    table, families = children
    nodes = some_rows(rng)
    nodes[0, 0] = 3
    expected = [[child for node in row for child in families[node]] for row in sets(nodes)]
    assert sets(expand(nodes, table)) == expected
    scores = torch.rand(nodes.shape)
    shortlist, inherited = expand_scores(nodes, scores, table)
    assert sets(shortlist) == expected
    for row in range(len(nodes)):
        wanted = [scores[row, p] for p, node in enumerate(sets(nodes)[row]) for _ in families[node]]
        assert [float(s) for s in inherited[row][shortlist[row] != EMPTY]] == [float(s) for s in wanted]


def test_an_accelerator_is_not_asked_how_wide_a_shortlist_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known beforehand is at least as wide; behind the same nodes there are more empty places."""
    table = Children(np.arange(0, 61, 3), np.arange(60, dtype=np.int32))
    nodes = torch.tensor([[4, 2, EMPTY], [EMPTY] * 3, [7, EMPTY, EMPTY]])
    scores, force = torch.rand(3, 9), torch.zeros(3, 9)
    force[1, :4] = 1
    expected = sets(expand(nodes, table)), sets(pick(scores, None, 2, force)[0])
    monkeypatch.setattr(shortlist_module, "must_wait", lambda _: True)
    with Counting() as count:
        found = expand(nodes, table)
        picked, _ = pick(scores, None, 2, force, most=5)
    assert not count.waits
    assert found.shape == (3, 9)
    assert picked.shape == (3, 5)
    assert (sets(found), sets(picked)) == expected


def test_nodes_are_added_once(rng: np.random.Generator) -> None:
    shortlist, nodes = some_rows(rng), some_rows(rng, most=4)
    found = sets(added(shortlist, nodes))
    for row, own, more in zip(found, sets(shortlist), sets(nodes), strict=True):
        assert row == own + [node for node in more if node not in own]
    assert torch.equal(added(shortlist, nodes[:, :0]), shortlist)
    assert torch.equal(added(shortlist[:, :0], nodes), nodes)


def test_pick_keeps_the_best_and_every_forced_node(rng: np.random.Generator) -> None:
    shortlist = some_rows(rng)
    scores = torch.from_numpy(rng.permutation(shortlist.numel()).reshape(shortlist.shape)).float()
    force = torch.from_numpy(rng.random(shortlist.shape) < 0.4) & (shortlist != EMPTY)
    for beam in (1, 3, 20):
        nodes, kept = pick(scores, shortlist, beam)
        forced, _ = pick(scores, shortlist, beam, force)
        for row in range(len(shortlist)):
            real = shortlist[row] != EMPTY
            order = scores[row][real].argsort(descending=True)
            ranked = shortlist[row][real][order].tolist()
            assert sets(nodes)[row] == ranked[:beam]
            assert kept[row][: len(ranked[:beam])].tolist() == scores[row][real][order][:beam].tolist()
            must = shortlist[row][force[row]].tolist()
            rest = [node for node in ranked if node not in must]
            assert set(sets(forced)[row]) == set(must) | set(rest[: max(0, beam - len(must))])


def test_pick_among_all_nodes() -> None:
    scores = torch.tensor([[0.1, 0.9, 0.5], [3.0, 2.0, 1.0]])
    nodes, kept = pick(scores, None, 2, torch.tensor([[1, 0, 0], [0, 0, 1]]))
    assert [set(row) for row in nodes.tolist()] == [{0, 1}, {2, 0}]
    assert kept.tolist()[0][nodes[0].tolist().index(1)] == pytest.approx(0.9)


def test_picks_do_not_depend_on_the_batch(rng: np.random.Generator) -> None:
    shortlist = some_rows(rng)
    scores = torch.from_numpy(rng.random(shortlist.shape))
    force = torch.from_numpy(rng.random(shortlist.shape) < 0.5) & (shortlist != EMPTY)
    together = sets(pick(scores, shortlist, 2, force)[0])
    alone = [sets(pick(scores[[i]], shortlist[[i]], 2, force[[i]])[0])[0] for i in range(len(shortlist))]
    assert [sorted(row) for row in together] == [sorted(row) for row in alone]


def test_targets_mark_the_true_nodes(rng: np.random.Generator) -> None:
    true, shortlist = some_rows(rng), some_rows(rng, most=15)
    weights = torch.from_numpy(rng.random(true.shape)).float() + 0.1
    plain, weighted = targets(true, shortlist, NODES), targets(true, shortlist, NODES, weights)
    everything = targets(true, None, NODES, weights)
    assert everything.shape == (len(true), NODES)
    for row in range(len(true)):
        value = {int(n): float(w) for n, w in zip(true[row], weights[row], strict=True) if n != EMPTY}
        assert plain[row].tolist() == [float(int(c) in value) for c in shortlist[row]]
        assert weighted[row].tolist() == [value.get(int(c), 0.0) for c in shortlist[row]]
        assert everything[row].tolist() == [value.get(node, 0.0) for node in range(NODES)]


def test_texts_without_true_nodes() -> None:
    none = torch.empty(2, 0, dtype=torch.int64)
    assert targets(none, torch.tensor([[1, 2], [3, EMPTY]]), 5).tolist() == [[0, 0], [0, 0]]
    assert targets(none, None, 3).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert expand(torch.full((2, 3), EMPTY), Children(np.array([0, 2]), np.array([0, 1], np.int32))).shape == (2, 0)

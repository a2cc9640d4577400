from __future__ import annotations

import numpy as np
import pytest
import torch

from treetop.data import Dataset
from treetop.neural.networks import (
    find_nodes,
    hold_out,
    log_link,
    node_frequencies,
    seeded,
)
from treetop.neural.scorer import NodeScorer
from treetop.neural.shortlist import Children
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.text.tokens import Frame, Tokens

FRAME = Frame(prefix=(1,), suffix=(), types=(0, 0, 0), pad=0, pad_left=False, pooled_last=False)
TOKENS = Tokens(np.arange(6, dtype=np.uint16), np.array([0, 1, 3, 6]), FRAME, max_tokens=8)


def test_seeds_decide_and_leave_no_trace() -> None:
    torch.manual_seed(4)
    expected = torch.rand(1)
    torch.manual_seed(4)
    with seeded(1):
        first = torch.rand(1)
    with seeded(1):
        assert torch.equal(torch.rand(1), first)
    assert torch.equal(torch.rand(1), expected)


def test_some_texts_can_be_held_out() -> None:
    data = Dataset.build([f"text {i}" for i in range(50)], [["a"]] * 50)
    learn, dev = hold_out(data, 0.2, 0)
    assert dev is not None
    assert len(dev) == 10
    assert not set(learn.corpus.texts) & set(dev.corpus.texts)
    assert hold_out(data, 0.0, 0) == (data, None)


def test_how_often_a_node_is_true_where_it_competes() -> None:
    true = canonical(np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]]))
    assert node_frequencies(true).tolist() == pytest.approx([3.5 / 5, 1.5 / 5, 0.5 / 5])
    assert node_frequencies(true, 0.5).tolist() == pytest.approx([3.5 / 4, 1.5 / 3, 0.5 / 3])


def test_links() -> None:
    margins = torch.tensor([-1.0, 0.5, 2.0])
    assert log_link(margins, "l2-hinge").tolist() == [-4.0, -0.25, 0.0]
    assert log_link(margins, "noop").tolist() == margins.tolist()
    assert log_link(margins, "sigmoid").exp().tolist() == pytest.approx(margins.sigmoid().tolist())


def test_nodes_are_found_by_their_paths_among_those_in_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treetop.neural.networks._SCORES_AT_ONCE", 8)  # a text or two at a time
    scorer = NodeScorer(4, 2)
    scorer.fill(torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), torch.zeros(4))
    embedding = np.array([[0.5, -1.0], [-0.5, 0.25], [0.0, 0.0]], np.float32)
    found = find_nodes(scorer, embedding, 2, Runtime(threads=1), link="l1-hinge").toarray()
    assert [np.flatnonzero(row).tolist() for row in found] == [[0], [1, 2], [0, 1]]  # log 1 is a stored zero
    np.testing.assert_allclose(found[1], [0, -0.75, -0.5, 0])
    above = canonical(np.array([[0.0, -0.1, -5.0], [-2.0, -1.0, -0.2], [0.0, 0.0, -3.0]]))
    below = Children(np.array([0, 1, 2, 4]), np.array([0, 1, 2, 3], np.int32))
    deeper = find_nodes(scorer, embedding, 2, Runtime(threads=1), link="l1-hinge", found=above, below=below)
    assert [row.indices.tolist() for row in deeper] == [[1, 3], [2, 3], [2, 3]]
    np.testing.assert_allclose(deeper.toarray()[:2], [[0, -2.1, 0, -5.0], [0, 0, -0.7, -1.45]], rtol=1e-6)

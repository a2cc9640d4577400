from __future__ import annotations

import torch

from counting import Counting
from treetop.neural.scorer import NodeScorer
from treetop.neural.touched import Touched

SHORTLIST = torch.tensor([[3, 0, 7, -1], [7, -1, -1, -1], [-1, -1, -1, -1], [1, 2, 3, 9]])


def test_rows_are_those_of_the_nodes_and_places_count_among_them() -> None:
    touched = Touched()
    first, second = touched.note(SHORTLIST, 11), touched.note(torch.tensor([-1, 4]), 5)
    rows, place = touched.rows(first)
    assert rows.tolist() == [0, 1, 2, 3, 7, 9]
    assert place[rows].tolist() == list(range(6))
    assert touched.rows(second)[0].tolist() == [4]


def test_scorers_of_one_batch_ask_once_how_many_rows_they_touch() -> None:
    scorers, states, touched = [NodeScorer(n, 6) for n in (11, 20, 30)], torch.randn(4, 6), Touched()
    logits = [scorer(states, SHORTLIST, touched) for scorer in scorers]
    loss = torch.stack([each.nan_to_num(neginf=0).sum() for each in logits]).sum()
    with Counting() as count:
        loss.backward()  # type: ignore[no-untyped-call]
    assert sum(count.waits.values()) == 1
    for scorer in scorers:
        assert scorer.weight.grad is not None
        assert scorer.weight.grad._indices()[0].tolist() == [0, 1, 2, 3, 7, 9]

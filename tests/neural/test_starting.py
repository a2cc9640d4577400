from __future__ import annotations

import numpy as np
import pytest
import torch

from treetop.labels import LabelTree
from treetop.neural.scorer import NodeScorer
from treetop.neural.starting import start_linearly
from treetop.runtime import Runtime
from treetop.sparse import canonical
from treetop.types import Dense

TREE = LabelTree.from_groups([[0, 3], [1, 2]])
RANDOM = np.random.default_rng(0)
EMBEDDING = RANDOM.normal(size=(60, 5)).astype(np.float32)
TRUE = (EMBEDDING @ RANDOM.normal(size=(5, 4)) > 1).astype(np.float32)


def margins(embedding: Dense, loss: str = "squared_hinge") -> Dense:
    scorer = NodeScorer(4, 5)
    shortlist = canonical(np.ones((60, 2), np.float32))
    start_linearly(scorer, embedding, canonical(TRUE), shortlist, TREE, 1, Runtime(threads=1), loss=loss)  # type: ignore[arg-type]
    with torch.no_grad():
        result: Dense = scorer(torch.from_numpy(embedding)).numpy()
    return result


@pytest.mark.parametrize("loss", ["squared_hinge", "bce"])
def test_it_begins_where_the_truth_is(loss: str) -> None:
    found = margins(EMBEDDING, loss)
    assert ((found > 0) == (TRUE > 0)).mean() > 0.9


def test_a_logistic_start_is_sure_of_what_it_has_seen() -> None:
    chance = 1 / (1 + np.exp(-margins(EMBEDDING, "bce")))
    assert chance[TRUE > 0].mean() > 0.75
    assert chance[TRUE == 0].mean() < 0.1


def test_the_length_of_embeddings_does_not_matter() -> None:
    short, long = margins(EMBEDDING), margins(20 * EMBEDDING)
    assert np.abs(short - long).mean() < 0.1 * np.abs(short).mean()


def test_what_all_embeddings_share_does_not_matter() -> None:
    shared = 10 * RANDOM.normal(size=5).astype(np.float32)
    apart, together = margins(EMBEDDING), margins(EMBEDDING + shared)
    assert np.abs(apart - together).mean() < 0.02 * np.abs(apart).mean()


def test_without_a_shortlist_all_texts_take_part() -> None:
    scorers = [NodeScorer(2, 5), NodeScorer(2, 5)]
    true = canonical(TREE.lift(canonical(TRUE), 0))
    for scorer, shortlist in zip(scorers, (None, canonical(np.ones((60, 1), np.float32))), strict=True):
        start_linearly(scorer, EMBEDDING, true, shortlist, TREE, 0, Runtime(threads=1))
    assert torch.equal(scorers[0].weight, scorers[1].weight)

"""Search among some labels only: the twin, batch and single texts, and one level alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from random_levels import assert_agrees, assert_same_bits, random_csr, random_texts, random_tree
from treetop import kernels
from treetop.errors import DataError
from treetop.kernels.reference import search as oracle
from treetop.kernels.search import LINKS

Mask = NDArray[np.bool_]
WIDTHS = (4, 17, 90)


def parents_of(level: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
    parent = np.empty(len(level["children"]), np.int64)
    parent[level["children"]] = np.repeat(np.arange(len(level["children_ptr"]) - 1), np.diff(level["children_ptr"]))
    return parent


def masks_for(levels: list[dict[str, NDArray[Any]]], labels: NDArray[np.int64]) -> list[Mask]:
    """Of each level, whether an allowed label is below a node."""
    masks = []
    nodes = labels
    for level in reversed(levels):
        masks.append(np.isin(np.arange(len(level["children"])), nodes))
        nodes = parents_of(level)[nodes]
    return masks[::-1]


@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("beam", [2, 100])
def test_the_native_search_equals_the_reference(link: str, kind: str, beam: int) -> None:
    rng = np.random.default_rng(4)
    levels = random_tree(rng, WIDTHS, 40, 5, kind=kind)
    sparse, dense = random_texts(rng, 30, 40, 5)
    allowed = rng.choice(WIDTHS[-1], 12, replace=False)
    combine = "last" if link == "noop" else "multiply"
    options: dict[str, Any] = {"beams": [beam, beam], "k": 20, "link": link, "combine": combine}
    labels, scores = assert_agrees(levels, sparse, dense, allowed=masks_for(levels, allowed), **options)
    assert set(labels.ravel().tolist()) <= {*allowed.tolist(), -1}
    if beam == 100:  # wide enough: every allowed label is found, with the score it has among all labels
        assert ((labels >= 0).sum(1) == len(allowed)).all()
        everything = kernels.Searcher(levels).search(sparse, dense, **{**options, "k": WIDTHS[-1]})
        for row, (all_labels, all_scores) in enumerate(zip(*everything, strict=True)):
            kept = np.isin(all_labels, allowed)
            np.testing.assert_array_equal(labels[row, : kept.sum()], all_labels[kept])
            np.testing.assert_array_equal(scores[row, : kept.sum()], all_scores[kept])


def test_a_narrow_beam_finds_what_it_would_lose_among_all_labels() -> None:
    rng = np.random.default_rng(5)
    levels = random_tree(rng, WIDTHS, 40)
    sparse, _ = random_texts(rng, 50, 40)
    searcher = kernels.Searcher(levels)
    worst = searcher.search(sparse, None, beams=[99, 99], k=WIDTHS[-1])[0][:, -1]
    for text, label in enumerate(worst):
        masks = masks_for(levels, np.array([label]))
        labels, _ = searcher.search(sparse[[text]], None, beams=[1, 1], k=3, allowed=masks)
        assert labels.tolist() == [[label, -1, -1]]


def test_the_result_does_not_depend_on_the_threads_and_all_labels_are_no_restriction() -> None:
    rng = np.random.default_rng(6)
    levels = random_tree(rng, WIDTHS, 40, 3)
    sparse, dense = random_texts(rng, 200, 40, 3)
    searcher = kernels.Searcher(levels)
    masks = masks_for(levels, rng.choice(WIDTHS[-1], 30, replace=False))
    one, *others = [
        searcher.search(sparse, dense, beams=[2, 3], k=8, allowed=masks, threads=threads) for threads in (1, 2, 5)
    ]
    for other in others:
        assert_same_bits(one, other)
    everything = [np.ones(width, np.bool_) for width in WIDTHS]
    free = searcher.search(sparse, dense, beams=[2, 3], k=8)
    assert_same_bits(free, searcher.search(sparse, dense, beams=[2, 3], k=8, allowed=everything))


@pytest.mark.parametrize("keep", [0, 3])
def test_one_level_scores_allowed_nodes_only(keep: int) -> None:
    rng = np.random.default_rng(7)
    level = random_tree(rng, WIDTHS, 40)[-1]
    sparse, _ = random_texts(rng, 40, 40)
    shortlist = abs(random_csr(rng, 40, WIDTHS[-2], 0.3))
    allowed = rng.random(WIDTHS[-1]) < 0.2
    scores = kernels.score_level(level, sparse, None, shortlist, allowed=allowed, nodes=WIDTHS[-1], keep=keep)
    expected = oracle.score_level(level, sparse, None, shortlist, allowed=allowed, nodes=WIDTHS[-1], keep=keep)
    found = np.full(scores.shape, np.nan)
    found[np.repeat(np.arange(40), np.diff(scores.indptr)), scores.indices] = scores.data
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-30)
    assert allowed[scores.indices].all()


def test_masks_that_do_not_fit_are_refused() -> None:
    rng = np.random.default_rng(8)
    levels = random_tree(rng, (4, 20), 10)
    sparse, _ = random_texts(rng, 3, 10)
    searcher = kernels.Searcher(levels)
    good = [np.ones(4, np.bool_), np.ones(20, np.bool_)]
    masks: list[tuple[list[Any], str]] = [
        (good[:1], "needs one for each"),
        ([good[0], good[1][:19]], "for each of 20 nodes"),
        ([good[0].astype(np.int64), good[1]], "a mask is int64"),
    ]
    for allowed, message in masks:
        with pytest.raises(DataError, match=message):
            searcher.search(sparse, None, beams=[2], k=2, allowed=allowed)
    with pytest.raises(DataError, match="for each of 4 nodes"):
        kernels.score_level(levels[0], sparse, None, None, allowed=good[0][:2])

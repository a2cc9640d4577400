"""Accounts of margins: rest, sources, other words, and the mean of several models."""

from __future__ import annotations

import numpy as np
import pytest

from treetop.explanation import BIAS, ENCODER, REST, TFIDF
from treetop.methods.explaining.account import Account, Node, mixed


def account(scale: float = 1.0, cut: int = 4) -> Account:
    return Account(
        spans=np.array([[0, cut], [cut + 1, 9]]),
        nodes=[Node(0, 0, 3), Node(0, 1, 7)],
        margins=scale * np.array([1.0, 2.0]),
        shares=np.array([0.0, 1.0]),
        words={TFIDF: scale * np.array([[0.5, 0.25], [1.0, 0.5]])},
        constants={BIAS: scale * np.array([0.25, 0.25]), ENCODER: scale * np.array([0.0, 0.125])},
    )


def test_the_rest_is_what_nothing_accounts_for() -> None:
    assert account().rest.tolist() == [0.0, 0.125]
    assert account().parts(account().shares) == {TFIDF: 1.5, BIAS: 0.25, ENCODER: 0.125, REST: 0.125}


def test_models_are_mixed_by_their_votes() -> None:
    several = mixed([(0.75, "one", account()), (0.25, "two", account(4.0))])
    assert several.margins.tolist() == [0.75 * 2 + 0.25 * 8]
    assert several.parts(several.shares)[TFIDF] == pytest.approx(0.75 * 1.5 + 0.25 * 6)
    assert several.words[TFIDF].tolist() == [[0.75 + 1.0, 0.375 + 0.5]]
    assert [name for _, name, _ in several.members] == ["one", "two"]


def test_words_that_are_cut_differently_share() -> None:
    moved = account().on(np.array([[0, 2], [2, 4], [5, 9]]))
    assert moved.words[TFIDF].tolist() == [[0.25, 0.25, 0.25], [0.5, 0.5, 0.5]]
    assert account().on(account().spans).spans is not None
    assert mixed([(0.5, "one", account()), (0.5, "two", account(cut=3))]).words[TFIDF].shape == (1, 2)

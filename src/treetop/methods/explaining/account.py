"""An account of a label's score: the margins it follows from, and what each word of the text adds to them.

Methods give accounts; `explained.py` makes explanations of them. The margins of several nodes stand side by side, and
`shares` says how much each counts: one for every level of a search whose scores are multiplied, none for levels that
only lead to the label, a part for each of several trees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treetop.explanation import BIAS, ENCODER, FEATURES, REST, TFIDF
from treetop.linear import LinearTree, NodeMargin
from treetop.sparse import AnyFeatures, sparse_block
from treetop.text import Tfidf
from treetop.text.occurrences import Spans, overlap, shared_out, spans_of

__all__ = ["Account", "Node", "Numbers", "account_of_margins", "account_of_trees", "chained", "mixed"]

Numbers = NDArray[np.float64]


class Node(NamedTuple):
    """A node of a label tree."""

    tree: int
    level: int
    number: int


@dataclass(frozen=True, slots=True)
class Account:
    """What a score is made of, for m margins and w words."""

    spans: Spans
    """Where the words stand."""
    nodes: Sequence[Node]
    margins: Numbers
    """(m,): the margin of each node."""
    shares: Numbers
    """(m,): how much of each is in the margin that is explained."""
    words: Mapping[str, Numbers]
    """By source, (m, w): what each word adds."""
    constants: Mapping[str, Numbers]
    """By source, (m,): what is there without any word."""
    members: Sequence[tuple[float, str, Account]] = ()
    """Of an ensemble: vote, method and account of each model."""
    notes: tuple[str, ...] = field(default=())
    """What could not be told, a line each."""

    @property
    def rest(self) -> Numbers:
        """(m,): what neither words nor constants account for."""
        return self.margins - sum((part.sum(1) for part in self.words.values()), sum(self.constants.values(), 0.0))

    def parts(self, weights: Numbers) -> dict[str, float]:
        """The weighted sum of the margins by source."""
        sources = {name: weights @ part.sum(1) for name, part in self.words.items()}
        constants = {name: weights @ part for name, part in self.constants.items()}
        every = {**constants, REST: weights @ self.rest}
        merged = {name: sources.get(name, 0.0) + every.get(name, 0.0) for name in (*sources, *every)}
        return {name: float(value) for name, value in merged.items()}

    def on(self, spans: Spans) -> Account:
        """The same for other words of the same text, which share what they overlap."""
        if np.array_equal(spans, self.spans):
            return self
        shares = overlap(spans, self.spans)
        return replace(self, spans=spans, words={name: (shares @ part.T).T for name, part in self.words.items()})


def account_of_trees(
    trees: Sequence[LinearTree], text: str, features: AnyFeatures, label: int, tfidf: Tfidf | None
) -> tuple[Account, list[NodeMargin]]:
    """The account of linear rankers for one text, and the margins as they were taken apart."""
    margins = [margin for tree in trees for margin in tree.margins(features, label)]
    nodes = [
        Node(number, level, node)
        for number, tree in enumerate(trees)
        for level, node in enumerate(tree.tree.path(label))
    ]
    shares = np.concatenate([_shares(tree) / len(trees) for tree in trees])
    return account_of_margins(margins, nodes, shares, text, features, tfidf), margins


def account_of_margins(
    margins: Sequence[NodeMargin],
    nodes: Sequence[Node],
    shares: Numbers,
    text: str,
    features: AnyFeatures,
    tfidf: Tfidf | None,
) -> Account:
    """The account of margins of linear classifiers.

    What a dense block adds stands among the constants, as that of the encoder, until somebody tells its words.
    """
    spans = spans_of(text, tfidf.config if tfidf else None)
    words, constants = _by_word(margins, text, features, spans, tfidf)
    if margins[0].dense.size:
        constants[ENCODER] = np.array([margin.dense.sum() for margin in margins])
    total = np.array([margin.terms.sum() + margin.dense.sum() + margin.bias for margin in margins])
    return Account(spans, nodes, total, shares, words, constants)


def chained(first: Account, second: Account, shares: Numbers) -> Account:
    """The account of the margins of both, one after the other."""
    first = first.on(second.spans)
    both = (first, second)
    return Account(
        spans=second.spans,
        nodes=[*first.nodes, *second.nodes],
        margins=np.concatenate([first.margins, second.margins]),
        shares=shares,
        words=_side_by_side([one.words for one in both], [len(one.margins) for one in both]),
        constants=_side_by_side([one.constants for one in both], [len(one.margins) for one in both]),
        notes=(*first.notes, *second.notes),
    )


def _side_by_side(parts: Sequence[Mapping[str, Numbers]], sizes: Sequence[int]) -> dict[str, Numbers]:
    """Sources of several accounts; where one lacks a source, it adds nothing."""
    like = {name: part for every in parts for name, part in every.items()}
    return {
        name: np.concatenate([
            every.get(name, np.zeros((size, *part.shape[1:]))) for every, size in zip(parts, sizes, strict=True)
        ])
        for name, part in like.items()
    }  # fmt: skip


def mixed(accounts: Sequence[tuple[float, str, Account]]) -> Account:
    """The account of several models whose margins are averaged, with weights that add up to one."""
    spans = accounts[0][2].spans
    votes = [(weight, account.on(spans)) for weight, _, account in accounts]
    words = dict.fromkeys(name for _, account in votes for name in account.words)
    constants = dict.fromkeys(name for _, account in votes for name in account.constants)
    return Account(
        spans,
        nodes=(),
        margins=np.array([sum(weight * (account.shares @ account.margins) for weight, account in votes)]),
        shares=np.ones(1),
        words={name: _added([(weight, account, account.words.get(name)) for weight, account in votes])
               for name in words},
        constants={name: _added([(weight, account, account.constants.get(name)) for weight, account in votes])
                   for name in constants},
        members=accounts,
    )  # fmt: skip


def _added(parts: Sequence[tuple[float, Account, Numbers | None]]) -> Numbers:
    """The weighted sum of what models have from one source, for a single margin."""
    return np.array([sum(weight * (account.shares @ part) for weight, account, part in parts if part is not None)])


def _shares(tree: LinearTree) -> Numbers:
    """Every level counts if their scores are multiplied, else only the label's own."""
    levels = tree.tree.levels
    return np.ones(levels) if tree.search.combine == "multiply" else np.append(np.zeros(levels - 1), 1.0)


def _by_word(
    margins: Sequence[NodeMargin], text: str, features: AnyFeatures, spans: Spans, tfidf: Tfidf | None
) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
    """What words add through terms, and what is constant: the bias, and features that came beside the text."""
    constants = {BIAS: np.array([margin.bias for margin in margins])}
    sparse = sparse_block(features)
    if sparse is None:
        return {}, constants
    terms = np.array([margin.terms for margin in margins])
    columns = sparse.indices[: terms.shape[1]]
    own = 0 if tfidf is None else int(np.searchsorted(columns, tfidf.width))
    if own < len(columns):
        constants[FEATURES] = terms[:, own:].sum(1)
    if tfidf is None:
        return {}, constants
    return {TFIDF: shared_out(tfidf, text, columns[:own], terms[:, :own].T, spans).T}, constants

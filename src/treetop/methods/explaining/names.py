"""What the words of a label's name add, for models into whose scores names are mixed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treetop.explanation import BIAS, LABEL_NAMES
from treetop.methods.explaining.account import Account, Numbers
from treetop.naming import Naming
from treetop.text.occurrences import Spans, shared_out, spans_of

__all__ = ["account_of_name", "with_name"]

_TOLD = 4  # words


def account_of_name(naming: Naming, text: str, label: int) -> Account:
    """The account of a label that is known by its name alone: what the name adds to the lowest score of a list."""
    spans = spans_of(text, naming.index.terms.config)
    adds, floor = _adds(naming, text, label, spans), naming.floor / naming.scale
    words, constants = {LABEL_NAMES: adds[None]}, {BIAS: np.array([floor])}
    return Account(
        spans, (), np.array([floor + adds.sum()]), np.ones(1), words, constants, notes=_told(text, spans, adds)
    )


def with_name(naming: Naming, account: Account, text: str, label: int) -> Account:
    """The account of a model with what a label's name adds: to its margin if scores are margins; told in any case."""
    adds = _adds(naming, text, label, account.spans)
    account = replace(account, notes=(*account.notes, *_told(text, account.spans, adds)))
    if naming.kind != "margin" or not adds.any():
        return account
    at = int(np.flatnonzero(account.shares)[-1])
    words = np.zeros((len(account.margins), len(adds)))
    words[at] = adds / account.shares[at]
    return replace(account, margins=account.margins + words.sum(1), words={**account.words, LABEL_NAMES: words})


def _told(text: str, spans: Spans, adds: Numbers) -> tuple[str, ...]:
    """What the label's name adds to the score, in a line."""
    if not adds.any():
        return ("nothing of the label's name is in the text",)
    best = [at for at in np.argsort(-adds, kind="stable")[:_TOLD] if adds[at] > 0]
    words = ", ".join(f"{text[slice(*spans[at])]} {adds[at]:+.3f}" for at in best)
    return (f"the label's name in the text adds {adds.sum():.3f} to the score: {words}",)


def _adds(naming: Naming, text: str, label: int, spans: Spans) -> Numbers:
    """What each word adds to the score, by the parts of the name that it is in."""
    terms, (start, labels, share) = naming.index.terms, naming.index.postings
    columns, shares = [], []
    for term in terms.transform([text], threads=1).indices.tolist():
        here = slice(int(start[term]), int(start[term + 1]))
        found = np.flatnonzero(labels[here] == label)
        columns += [term] * len(found)
        shares += share[here][found].tolist()
    unit = float(naming.worth[label]) / naming.scale * sum(shares) ** (naming.power - 1)
    worth = np.array(shares) * unit
    return shared_out(terms, text, np.array(columns, np.int32), worth, spans)

"""From a model's account of a label to an explanation that can be shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treetop.calibration import Calibration
from treetop.data import Corpus, LabelSpace
from treetop.errors import ConfigError, DataError
from treetop.explanation import Explanation, Member, Removal, Step, Word
from treetop.labels import LabelTree
from treetop.methods.calibrating import cut_at
from treetop.methods.explaining.account import Account
from treetop.methods.explaining.names import account_of_name, with_name
from treetop.methods.explaining.removing import fewest_words
from treetop.methods.explaining.standing import Standing, standing_of
from treetop.naming import Naming
from treetop.predictions import Kind, Predictions
from treetop.text.kept import KeptTexts
from treetop.types import Ids

__all__ = ["explained"]

_EXAMPLES = 4  # labels that tell what a node is about
_HALF: dict[Kind, float] = {"margin": 0.0, "score": 0.5, "probability": 0.5}


class _Explainable(Protocol):
    """What an explanation needs of a model."""

    space: LabelSpace
    frequency: NDArray[np.int64]
    calibration: Calibration | None
    kept: KeptTexts | None
    naming: Naming | None

    @property
    def name(self) -> str: ...
    def predict(self, texts: Any, k: int = 10, *, labels: Any = None) -> Predictions: ...
    def _account(self, corpus: Corpus, label: int) -> Account: ...
    def _label_trees(self) -> Sequence[LabelTree]: ...


def explained(
    model: _Explainable, text: str, label: str | None, threshold: float | str | None, nearest: int
) -> Explanation:
    """Why the model suggests a label for a text, or the first label that it suggests."""
    _check(text, nearest)
    standing = standing_of(model, text, None if label is None else int(model.space.numbers([label])[0]))
    account = _account(model, text, standing.label)
    _check_known(account, text)
    words = _words(text, account)
    limit, notes = _limit(model, threshold, standing)
    removal = None if limit is None else _removal(model, text, words, standing, limit)
    described = None if model.space.texts is None else model.space.texts[standing.label]
    name = model.space.names[standing.label]
    return Explanation(
        text=text,
        label=name,
        method=model.name,
        score=standing.score,
        kind=standing.kind,
        rank=standing.rank,
        margin=float(account.shares @ account.margins),
        words=words,
        parts=account.parts(account.shares),
        path=tuple(_steps(model, account, standing.label)),
        nearest=() if model.kept is None else tuple(model.kept.nearest(text, standing.label, nearest, model.space)),
        removal=removal,
        members=tuple(_member(text, name, weight, method, one) for weight, method, one in account.members),
        label_text=None if described == name else described,
        notes=(*account.notes, *notes),
    )


def _check(text: Any, nearest: int) -> None:
    if not isinstance(text, str):
        raise DataError(f"the text is {text!r:.60}, a {type(text).__name__}; explain takes one text, a str")
    if not text.strip():
        raise DataError("the text is empty; give one with words")
    if nearest < 0:
        raise ConfigError(f"nearest is {nearest}; give the number of training texts to show, or 0 for none")


def _account(model: _Explainable, text: str, label: int) -> Account:
    """The model's account of a label, and what the label's name has to do with it."""
    naming = model.naming
    if naming is not None and label >= naming.trained:
        return account_of_name(naming, text, label)
    account = model._account(Corpus([text]), label)
    return account if naming is None else with_name(naming, account, text, label)


def _check_known(account: Account, text: str) -> None:
    if account.nodes and not any(part.any() for part in account.words.values()):
        shown = text if len(text) < 60 else f"{text[:57]}…"
        raise DataError(f"the model knows no word of the text {shown!r}; there is nothing to explain")


def _words(text: str, account: Account) -> tuple[Word, ...]:
    """The words that add something to one of the margins."""
    matters = _matters(account)
    places = account.spans[matters].tolist()
    adds = {source: (account.shares @ part)[matters].tolist() for source, part in account.words.items()}
    if len(adds) == 1:  # as of most long texts, with hundreds of words
        ((source, values),) = adds.items()
        return tuple([Word(text[a:b], a, b, own, {source: own}) for (a, b), own in zip(places, values, strict=True)])
    each = (dict(zip(adds, own, strict=True)) for own in zip(*adds.values(), strict=True))
    return tuple([Word(text[a:b], a, b, sum(own.values()), own) for (a, b), own in zip(places, each, strict=True)])


def _matters(account: Account) -> NDArray[np.int64]:
    return np.flatnonzero(sum(np.abs(part).sum(0) for part in account.words.values()))


def _steps(model: _Explainable, account: Account, label: int) -> list[Step]:
    matters, one = _matters(account), np.eye(len(account.nodes))
    words = sum(account.words.values())[:, matters] if account.nodes else np.empty((0, 0))  # type: ignore[index]
    steps = []
    for at, node in enumerate(account.nodes):
        below = model._label_trees()[node.tree].below(node.level, node.number)
        margin, parts = float(account.margins[at]), account.parts(one[at])
        adds = tuple(words[at].tolist())
        steps.append(Step(*node, len(below), _examples(model, below, label), margin, parts, adds))
    return steps


def _examples(model: _Explainable, labels: Ids, first: int) -> tuple[str, ...]:
    """The explained label, and the most frequent others below the same node."""
    others = labels[labels != first]
    frequent = others[np.argsort(-model.frequency[others], kind="stable")][: _EXAMPLES - 1]
    told = model.space.names if model.space.texts is None else model.space.texts
    return tuple(told[number] for number in (first, *frequent.tolist()))


def _limit(model: _Explainable, threshold: float | str | None, standing: Standing) -> tuple[float | None, list[str]]:
    """The score below which the label would be left out; a note if there is none."""
    if threshold is None and standing.kind == "rank":
        return None, ["scores made from places in lists have no natural threshold: give one to see what to remove"]
    if threshold is None:
        threshold = "f1" if standing.kind == "probability" else _HALF[standing.kind]
    cut = cut_at(threshold, model.calibration, standing.kind)
    return float(cut if np.ndim(cut) == 0 else cut[standing.label]), []  # type: ignore[index]


def _removal(model: _Explainable, text: str, words: Sequence[Word], standing: Standing, limit: float) -> Removal | None:
    if standing.score < limit:
        return None
    return fewest_words(lambda shorter: standing_of(model, shorter, standing.label).score, text, words, standing, limit)


def _member(text: str, label: str, weight: float, method: str, account: Account) -> Member:
    """A model of an ensemble: its words and parts, with the margin for a score."""
    margin = float(account.shares @ account.margins)
    parts = account.parts(account.shares)
    own = Explanation(text, label, method, margin, "margin", None, margin, _words(text, account), parts)
    return Member(weight, own)

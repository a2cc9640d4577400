"""What is tried: all settings that `treetop tune` chooses from, question by question.

Each question has a few answers; the first is treetop's default. A setting answers all of them, so the presets
`xr-linear`, `accurate` and `thorough` are settings like others. What an answer changes are values of `XRLinearConfig`,
as in a TOML file. The questions that come last cost no training: they only say how trained weights are searched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from treetop.config import from_dict, merge
from treetop.data import Dataset
from treetop.methods.xr_linear import XRLinearConfig

__all__ = ["PRESETS", "Answer", "Question", "Setting", "Space", "space_for"]

_MOST_FLAT, _MOST_FLAT_PAIRS = 2_000, 100_000_000
"""Labels, or pairs of a label and a text, up to which a tree can be done without."""

Setting: TypeAlias = tuple[int, ...]
"""The number of the answer to each question of a space."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One way to do something."""

    name: str
    what: str
    """In a line, for the comments of a recipe."""
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """Something that can be done in several ways."""

    name: str
    answers: tuple[Answer, ...]
    free: bool = False
    """Whether one training serves all answers."""


def _tfidf(**values: Any) -> dict[str, Any]:
    return {"tfidf": values}


def _solver(**values: Any) -> dict[str, Any]:
    return {"linear": {"solver": values}}


_FEATURES = Question(
    "features",
    (
        Answer("words", "single words"),
        Answer("pairs", "words and pairs of neighbouring words", _tfidf(word_ngrams=[1, 2])),
        Answer("parts", "words and their parts of 3 to 5 letters", _tfidf(char_wb_ngrams=[3, 5])),
        Answer(
            "pairs+parts",
            "words, pairs of words, and parts of 3 to 5 letters",
            _tfidf(word_ngrams=[1, 2], char_wb_ngrams=[3, 5]),
        ),
    ),
)
_TERMS = Question(
    "terms",
    (
        Answer("all", "every term is a feature"),
        Answer("twice", "terms that occur in one text only are left out", _tfidf(min_df=2)),
    ),
)
_COUNTS = Question(
    "counts",
    (
        Answer("damped", "a term that occurs n times counts 1 + ln(n)"),
        Answer("plain", "a term that occurs n times counts n", _tfidf(sublinear_tf=False)),
    ),
)
_NEGATIVES = Question(
    "negatives",
    (
        Answer("siblings", "a label learns from the texts of its neighbours in the tree"),
        Answer(
            "confused",
            "a label also learns from the texts that the search confuses with it",
            {"linear": {"negatives": "both", "search": {"beam": 20}}},
        ),
    ),
)
_COSTS = Question(
    "costs",
    (
        Answer("equal", "all errors cost the same"),
        Answer(
            "counted",
            "missing a true label costs more, and a node that holds several of them more again",
            {"linear": {"relevance": "count", "solver": {"c_positive": 2.0}}},
        ),
    ),
)
_PRUNING = Question(
    "pruning",
    (
        Answer("0.1", "weights below 0.1 are dropped"),
        Answer("0.05", "weights below 0.05 are dropped, and training ends earlier", _solver(threshold=0.05, eps=0.5)),
        Answer("0.02", "weights below 0.02 are dropped, and training ends earlier", _solver(threshold=0.02, eps=0.5)),
    ),
)
_LOOK = Question(
    "look of labels",
    (
        Answer("texts", "the tree groups labels by the texts that have them"),
        Answer(
            "texts+names",
            "the tree groups labels by their texts and by their names",
            {"representation": "pifa+text"},
        ),
    ),
)  # fmt: skip
_TREES = Question(
    "trees",
    (
        Answer("1", "one tree"),
        Answer("3", "three trees, each grown from another seed, that vote", {"trees": 3}),
    ),
)
_TREE = Question(
    "tree",
    (
        Answer("narrow", "leaves of 100 labels, 16 children per node"),
        Answer("wide", "leaves of 400 labels, 64 children per node", {"tree": {"max_leaf": 400, "branching": 64}}),
    ),
)
_FLAT = Answer("none", "no tree: every label learns from all texts", {"tree": {"max_leaf": 1_000_000}})
_RANKING = Question(
    "ranking",
    (
        Answer("path", "a label's score is the product over its path in the tree"),
        Answer(
            "own",
            "a label is ranked by its own score, the path only finds it",
            {"linear": {"search": {"leaf_link": "sigmoid", "combine": "last"}}},
        ),
    ),
    free=True,
)

PRESETS = {
    "xr-linear": {},
    "accurate": {"tree": "wide", "pruning": "0.05"},
    "thorough": {"tree": "wide", "negatives": "confused", "costs": "counted", "pruning": "0.05", "ranking": "own"},
}
"""The presets as settings of this space, by the answers that are not the default; a test compares them."""


@dataclass(frozen=True, slots=True)
class Space:
    """The questions that can be asked about some data."""

    questions: tuple[Question, ...]

    @property
    def default(self) -> Setting:
        """The first answer to everything."""
        return (0,) * len(self.questions)

    def named(self, answers: dict[str, str]) -> Setting | None:
        """The setting with these answers, and the default ones else; None if one of them cannot be given here."""
        known = [[answer.name for answer in question.answers] for question in self.questions]
        wanted = [answers.get(question.name, names[0]) for question, names in zip(self.questions, known, strict=True)]
        if not all(name in names for name, names in zip(wanted, known, strict=True)):
            return None
        return tuple(names.index(name) for name, names in zip(wanted, known, strict=True))

    def presets(self) -> dict[str, Setting]:
        """The presets that are in this space."""
        found = {name: self.named(answers) for name, answers in PRESETS.items()}
        return {name: setting for name, setting in found.items() if setting is not None}

    def neighbours(self, setting: Setting) -> Iterator[Setting]:
        """All settings with one other answer."""
        for place, question in enumerate(self.questions):
            for answer in range(len(question.answers)):
                if answer != setting[place]:
                    yield (*setting[:place], answer, *setting[place + 1 :])

    def trained(self, setting: Setting) -> Setting:
        """The setting as far as it is about training: free answers are the default."""
        pairs = zip(self.questions, setting, strict=True)
        return tuple(0 if question.free else answer for question, answer in pairs)

    def rankings(self, setting: Setting) -> list[Setting]:
        """All settings that the same training serves."""
        found = [self.trained(setting)]
        for place, question in enumerate(self.questions):
            if question.free:
                found = [(*one[:place], n, *one[place + 1 :]) for one in found for n in range(len(question.answers))]
        return found

    def answers(self, setting: Setting) -> Iterator[tuple[Question, Answer]]:
        """What a setting answers to each question."""
        return ((q, q.answers[number]) for q, number in zip(self.questions, setting, strict=True))

    def changes(self, setting: Setting) -> list[tuple[Question, Answer]]:
        """The answers that are not the default."""
        return [(question, answer) for question, answer in self.answers(setting) if answer is not question.answers[0]]

    def values(self, setting: Setting) -> dict[str, Any]:
        """What it changes, as in a TOML file."""
        values: dict[str, Any] = {}
        for _, answer in self.answers(setting):
            values = merge(values, answer.values)
        return values

    def config(self, setting: Setting) -> XRLinearConfig:
        """The configuration of a setting."""
        return from_dict(XRLinearConfig, self.values(setting))

    def words(self, setting: Setting) -> str:
        """A setting in a few words: the answers that are not the default."""
        return ", ".join(f"{q.name}={a.name}" for q, a in self.changes(setting)) or "the default"


def space_for(train: Dataset) -> Space:
    """The questions about some training texts: tf-idf is none where features are given, nor are names without texts."""
    has_texts = len(train.corpus.texts) > 0 and not (train.corpus.features is not None and train.corpus.origin)
    labels = np.count_nonzero(train.frequency)
    flat = labels <= _MOST_FLAT or labels * len(train) <= _MOST_FLAT_PAIRS
    tree = replace(_TREE, answers=(*_TREE.answers, _FLAT)) if flat else _TREE
    look = [_LOOK] if has_texts and train.space.texts is not None else []
    return Space(
        (
            *((_FEATURES, _TERMS, _COUNTS) if has_texts else ()),
            tree,
            _NEGATIVES,
            _COSTS,
            _PRUNING,
            *look,
            _TREES,
            _RANKING,
        )
    )

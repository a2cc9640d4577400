"""Why a label was suggested for a text: values that are shown, stored and sent, and nothing of how they are found.

An explanation takes apart the margin of a label, which the score follows from:

    margin = Σ words + Σ constants + rest          constants: bias, what an encoder gives a text without words, …

`words` tells what each word adds, wherever it adds it; `parts` the same sum by its sources: tf-idf, the encoder, label
names. `path` has a row for each level of the search, with the same words in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from treetop.predictions import Kind

__all__ = [
    "BIAS", "ENCODER", "FEATURES", "LABEL_NAMES", "NO_WORDS", "READING", "REST", "TFIDF", "Explanation", "Member",
    "Neighbour", "Removal", "Step", "Word",
]  # fmt: skip

TFIDF = "tf-idf"
"""The source of what words and n-grams add through a linear classifier."""
ENCODER = "encoder"
"""The source of what words add through a pretrained network."""
LABEL_NAMES = "label names"
"""The source of what words add because the name of the label has them."""
FEATURES = "features"
"""The source of what ready-made features add that come beside a text."""
BIAS = "bias"
"""The constant of a classifier."""
NO_WORDS = "encoder without words"
"""What an encoder adds when it reads a text in which all words are masked."""
READING = "reading in fewer bits"
"""What the reader that predicts, often in 8 bits, adds to what the encoder itself makes of the text."""
REST = "rest"
"""What is left of the margin: rounding, and what an integral over the encoder misses."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text where it stands, and what it adds to the margin."""

    word: str
    start: int
    """Its first character in the text, from 0."""
    end: int
    """The character behind its last."""
    contribution: float
    """Above zero it speaks for the label, below against it; the sum of `parts`."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """The contribution by source."""


@dataclass(frozen=True, slots=True)
class Step:
    """A node on the path from the root to the label."""

    tree: int
    """The number of the tree, from 0."""
    level: int
    """The level of the node, from 0."""
    node: int
    """Its number on the level; on the last, that of the label."""
    labels: int
    """Labels below the node."""
    examples: tuple[str, ...]
    """What some of them are called: the explained label, and of the others those with the most training texts."""
    margin: float
    """The margin of the node's own classifier; the sum of `parts`."""
    parts: Mapping[str, float]
    """The margin by source, bias and rest."""
    words: tuple[float, ...]
    """What each word of the explanation adds here, in the same order."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A training text that carries the label and resembles the text."""

    text: str
    labels: tuple[str, ...]
    similarity: float
    """Cosine of the tf-idf rows."""
    words: tuple[str, ...]
    """Words that both texts have, those first that matter most for the similarity."""


@dataclass(frozen=True, slots=True)
class Removal:
    """The fewest words, strongest first, without which the label falls below the threshold."""

    words: tuple[str, ...]
    """Each is taken out wherever it stands."""
    threshold: float
    before: float
    """The score of the label for the whole text."""
    after: float
    """Its score without the words, predicted again."""
    enough: bool
    """Whether that is below the threshold; if not, no word that speaks for the label is left."""


@dataclass(frozen=True, slots=True)
class Member:
    """What one model of an ensemble has to say."""

    weight: float
    """Its share of the votes; all shares add up to one."""
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a label was suggested for a text, or why it was not."""

    text: str
    label: str
    method: str
    score: float
    """As `predict` has it, or if it is not among the suggestions, what it would have."""
    kind: Kind
    """What the score is."""
    rank: int | None
    """The place among the suggestions, from 1; None if the label is not among the first fifty."""
    margin: float
    """What words, constants and rest add up to."""
    words: tuple[Word, ...]
    """The words that matter, in the order of the text."""
    parts: Mapping[str, float]
    """The margin by source, bias and rest."""
    path: tuple[Step, ...] = ()
    """The levels of the search, coarse to fine, tree after tree."""
    nearest: tuple[Neighbour, ...] = ()
    """Training texts that carry the label, the most similar first; none unless the model keeps its texts."""
    removal: Removal | None = None
    """None if the score is below the threshold as it is."""
    members: tuple[Member, ...] = ()
    """The models of an ensemble."""
    label_text: str | None = None
    """What describes the label, if it has more than a name."""
    notes: tuple[str, ...] = ()
    """What could not be told and why, a line each."""

    def strongest(self, k: int = 10, *, sign: int = 0) -> list[Word]:
        """The k words with the largest contributions, each where it first stands, all its places taken together.

        `sign` 1 looks only at words that speak for the label, -1 only at those against it.
        """
        together: dict[str, list[Word]] = {}
        for word in self.words:
            together.setdefault(word.word.casefold(), []).append(word)
        sums = [_sum(words) for words in together.values()]
        wanted = [word for word in sums if not sign or word.contribution * sign > 0]
        return sorted(wanted, key=lambda word: -abs(word.contribution))[:k]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per word: where it stands, its contribution, and that by source."""
        return [_named(word) for word in self.words]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, dictionaries, strings and numbers, ready for JSON."""
        found = {name: value for name, value in _named(self).items() if name != "members"}
        members = [{"weight": one.weight, "explanation": one.explanation.to_dict()} for one in self.members]
        return found | {"members": members}


def _sum(words: list[Word]) -> Word:
    sources = dict.fromkeys(source for word in words for source in word.parts)
    parts = {source: sum(word.parts.get(source, 0.0) for word in words) for source in sources}
    first = words[0]
    return Word(first.word, first.start, first.end, sum(word.contribution for word in words), parts)


def _named(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, tuples as lists."""
    return asdict(value, dict_factory=lambda pairs: {name: _plain(part) for name, part in pairs})


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value

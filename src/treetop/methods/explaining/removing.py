"""Without which words would a label no longer be suggested?

Words go in the order of their contributions, the strongest first, each wherever it stands. How many have to go is
looked for by doubling and then by halving the gap, and the model is asked again every time; contributions decide the
order, not the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treetop.explanation import Removal, Word
from treetop.methods.explaining.standing import Standing

__all__ = ["fewest_words", "without"]


def fewest_words(
    score: Callable[[str], float], text: str, words: Sequence[Word], standing: Standing, limit: float
) -> Removal:
    """The fewest of the strongest words without which the score of a text is below a limit."""
    groups = _strongest(words)
    scores: dict[int, float] = {0: standing.score}

    def score_without(count: int) -> float:
        if count not in scores:
            scores[count] = score(without(text, [word for group in groups[:count] for word in group]))
        return scores[count]

    count = _first_below(lambda count: score_without(count) < limit, len(groups))
    gone = tuple(group[0].word for group in groups[:count])
    return Removal(gone, limit, standing.score, score_without(count), score_without(count) < limit)


def without(text: str, words: Sequence[Word]) -> str:
    """The text without some of its words."""
    kept, last = [], 0
    for word in sorted(words, key=lambda word: word.start):
        kept.append(text[last : word.start])
        last = word.end
    return "".join([*kept, text[last:]])


def _strongest(words: Sequence[Word]) -> list[list[Word]]:
    """The places of each word that speaks for the label on the whole, the strongest word first."""
    groups: dict[str, list[Word]] = {}
    for word in words:
        groups.setdefault(word.word.casefold(), []).append(word)
    strength = {name: sum(word.contribution for word in places) for name, places in groups.items()}
    return [groups[name] for name in sorted(groups, key=lambda name: -strength[name]) if strength[name] > 0]


def _first_below(is_below: Callable[[int], bool], most: int) -> int:
    """The first number at which it is so, if it stays so; `most` if it never is."""
    high = 1
    while high < most and not is_below(high):
        high *= 2
    low, high = high // 2, min(high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_below(middle) else (middle, high)
    return high

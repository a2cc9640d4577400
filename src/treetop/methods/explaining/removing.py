"""Without which words would a label no longer be suggested?

Words go in the order of their contributions, the strongest first, each wherever it stands. How many have to go is
guessed from what they add, first half of what all words do, then by a straight line between known scores, until one
word decides; the model is asked every time, so contributions settle the order and the guesses, not the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from treetop.explanation import Removal, Word
from treetop.methods.explaining.standing import Standing

__all__ = ["fewest_words", "without"]


def fewest_words(
    score: Callable[[str], float], text: str, words: Sequence[Word], standing: Standing, limit: float
) -> Removal:
    """The fewest of the strongest words without which the score of a text is below a limit."""
    groups, strengths = _strongest(words)
    scores: dict[int, float] = {0: standing.score}

    def score_without(count: int) -> float:
        if count not in scores:
            scores[count] = score(without(text, [word for group in groups[:count] for word in group]))
        return scores[count]

    all_words = sum(word.contribution for word in words)
    count = _first_below(score_without, np.cumsum([0.0, *strengths]), limit, all_words / 2)
    gone = tuple(group[0].word for group in groups[:count])
    return Removal(gone, limit, standing.score, score_without(count), score_without(count) < limit)


def without(text: str, words: Sequence[Word]) -> str:
    """The text without some of its words."""
    kept, last = [], 0
    for word in sorted(words, key=lambda word: word.start):
        kept.append(text[last : word.start])
        last = word.end
    return "".join([*kept, text[last:]])


def _strongest(words: Sequence[Word]) -> tuple[list[list[Word]], list[float]]:
    """The places of each word that speaks for the label on the whole, the strongest word first, and what each adds."""
    groups: dict[str, list[Word]] = {}
    for word in words:
        groups.setdefault(word.word.casefold(), []).append(word)
    strength = {name: sum(word.contribution for word in places) for name, places in groups.items()}
    order = [name for name in sorted(groups, key=lambda name: -strength[name]) if strength[name] > 0]
    return [groups[name] for name in order], [strength[name] for name in order]


def _first_below(score: Callable[[int], float], adds: NDArray[np.float64], limit: float, aim: float) -> int:
    """The first count at which the score is below the limit, if it stays so; the largest if it never is.

    `adds` is what the first words add together, by their count, and `aim` how much of that to try first.
    """
    low, high, most = 0, 0, len(adds) - 1  # high: 0 as long as no count is known at which the score is below
    while high - low != 1 and low < most:
        nearest, farthest = low + 1, high - 1 if high else min(2 * low + 1, most) if low else most
        count = min(max(int(np.searchsorted(adds, aim)), nearest), farthest)
        low, high = (low, count) if score(count) < limit else (count, high)
        one, other = (low, high) if high else (0, low)
        aim = _crossing((float(adds[one]), score(one)), (float(adds[other]), score(other)), limit)
    return high or most


def _crossing(one: tuple[float, float], other: tuple[float, float], limit: float) -> float:
    """Where the straight line through two points reaches a limit."""
    (x, y), (to_x, to_y) = one, other
    return x + (to_x - x) * (y - limit) / (y - to_y) if y > to_y else to_x

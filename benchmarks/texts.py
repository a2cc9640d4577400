"""Generated texts: a made-up word for every feature, so that a real tokenizer and encoder have something to read."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["made_up_words", "texts_of"]

SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwxyz" for vowel in "aeiou"]


def made_up_words(count: int) -> list[str]:
    """Different words of two or more syllables, the same in every run."""
    base = len(SYLLABLES)
    words = []
    for number in range(base, base + count):  # from two syllables on: the shortest are words of real languages
        word, rest = "", number
        while rest:
            rest, syllable = divmod(rest, base)
            word += SYLLABLES[syllable]
        words.append(word)
    return words


def texts_of(features: sp.csr_matrix, seed: int = 0) -> list[str]:
    """A text for each row: the words of its features, each once, in random order."""
    words, rng = np.array(made_up_words(features.shape[1]), dtype=object), np.random.default_rng(seed)
    rows = np.split(features.indices, features.indptr[1:-1])
    return [" ".join(words[rng.permutation(row)]) for row in rows]

"""A planted corpus that words alone cannot solve, and a tiny encoder that can learn to.

A text holds a word for a left idea and one for a right idea of its topic, and which of the topic's two labels it has
depends on both together: on neither alone, as in an exclusive or. Every idea has several words. Test texts use words
that no training text holds, so tf-idf has nothing to go by. The encoder's vectors for the words of an idea are nearly
the same, so it can carry over what it learns; but as it comes, its states are little more than the mean of those
vectors, on which a linear model finds the topic and not the label. Only tuning gets further.
"""

from __future__ import annotations

import atexit
import itertools
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import torch

from tiny_encoders import CLASSIC, model, tokenizer
from treetop.data import Dataset, LabelSpace
from treetop.text.encoder import EncoderConfig

__all__ = ["LAYERS", "encoder", "test_texts", "train_texts"]

TOPICS = 9
KNOWN = range(4)  # words of an idea in training texts
NEW = range(4, 6)  # and in test texts
FILLER = [f"filler{number}" for number in range(20)]
IDEAS = [f"{side}{topic}x{which}" for side in ("left", "right") for topic in range(TOPICS) for which in (0, 1)]
ALIKE = 0.97  # cosine between a word's vector and that of its idea
LAYERS = 2


def train_texts() -> Dataset:
    """Texts in words that are known."""
    return _texts(600, KNOWN, seed=1)


def test_texts() -> Dataset:
    """Texts about the same in words that are new."""
    return _texts(120, NEW, seed=2)


def _texts(count: int, words: range, seed: int) -> Dataset:
    random = np.random.default_rng(seed)
    rows, names = [], []
    for _ in range(count):
        topic, left, right = int(random.integers(TOPICS)), int(random.integers(2)), int(random.integers(2))
        ideas = [f"left{topic}x{left}", f"right{topic}x{right}"]
        text = [f"{idea}x{random.choice(words)}" for idea in ideas] + [str(random.choice(FILLER))]
        random.shuffle(text)
        rows.append(" ".join(text))
        names.append([f"topic {topic}, {'same' if left == right else 'other'}"])
    space = LabelSpace([f"topic {topic}, {which}" for topic in range(TOPICS) for which in ("same", "other")])
    return Dataset.build(rows, names, space=space)


@cache
def encoder() -> EncoderConfig:
    """Two layers of 32 numbers that do next to nothing yet, on vectors that know which words mean the same."""
    words = [f"{idea}x{number}" for idea in IDEAS for number in itertools.chain(KNOWN, NEW)]
    pieces = tokenizer([*words, *FILLER], CLASSIC)
    network = model("bert", len(pieces), LAYERS)
    random = np.random.default_rng(0)
    ideas = {idea: random.standard_normal(network.config.hidden_size) for idea in IDEAS}
    vectors = network.get_input_embeddings().weight
    with torch.no_grad():
        for word in [*words, *FILLER]:
            idea, own = ideas.get(word.rpartition("x")[0]), random.standard_normal(network.config.hidden_size)
            vector = own if idea is None else ALIKE * idea + (1 - ALIKE**2) ** 0.5 * own
            vectors[pieces.convert_tokens_to_ids(word)] = torch.from_numpy(vector).float()
    folder = Path(tempfile.mkdtemp(prefix="treetop-planted-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    network.save_pretrained(folder)
    pieces.save_pretrained(folder)
    return EncoderConfig(name=str(folder), max_tokens=16, pooling="mean", dropout=0.0, reader="torch")

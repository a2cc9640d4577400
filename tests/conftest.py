"""A small corpus with planted structure: each label has words of its own, and topics group labels."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # tiny networks on a busy machine: threads must not spin

import numpy as np
import pytest
from hypothesis import settings

from treetop.data import Dataset

# What needs torch is left out where it is not installed; everything else must run without it.
WITH_TORCH = re.compile(
    r"^(import|from) (torch|transformers|planted|tiny_|toy_training|reading_helpers|small_release|"
    r"treetop\.(neural|text\.(encoder|tokens|pooling)))",
    re.M,
)
if not all(importlib.util.find_spec(name) for name in ("torch", "transformers")):
    files = Path(__file__).parent.rglob("test_*.py")
    collect_ignore = [str(path) for path in files if WITH_TORCH.search(path.read_text(encoding="utf-8"))]

settings.register_profile("patient", deadline=None)  # how long an example takes depends on who else is at work
settings.load_profile("patient")

TOPICS = 6
LABELS_PER_TOPIC = 7


def planted(texts: int, seed: int) -> Dataset:
    """Texts of one topic with one to three of its labels, made of the labels' words, the topic's and noise."""
    random = np.random.default_rng(seed)
    rows, names = [], []
    for _ in range(texts):
        topic = int(random.integers(TOPICS))
        chosen = random.choice(LABELS_PER_TOPIC, size=int(random.integers(1, 4)), replace=False)
        words = [f"topic{topic}"] * 2
        words += [f"word{topic}x{label}x{random.integers(3)}" for label in chosen for _ in range(3)]
        words += [f"noise{random.integers(200)}" for _ in range(6)]
        random.shuffle(words)
        rows.append(" ".join(words))
        names.append([f"label {topic}-{label}" for label in chosen])
    return Dataset.build(rows, names)


@pytest.fixture(scope="session")
def toy_train() -> Dataset:
    return planted(400, seed=1)


@pytest.fixture(scope="session")
def toy_test(toy_train: Dataset) -> Dataset:
    test = planted(120, seed=2)
    names = [[test.space.names[label] for label in test.labels[[row]].indices.tolist()] for row in range(len(test))]
    return Dataset.build(test.corpus.texts, names, space=toy_train.space)

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from treetop.data import Dataset
from treetop.data.demo import _installed_docstrings, demo_corpus


@pytest.fixture(scope="module")
def corpus() -> tuple[Dataset, Dataset]:
    return demo_corpus()


def test_thousands_of_texts_and_of_long_tailed_labels(corpus: tuple[Dataset, Dataset]) -> None:
    train, test = corpus
    assert 5_000 < len(train) + len(test) < 15_000
    assert len(train.space) > 2_000
    assert train.space is test.space
    frequency = train.frequency + test.frequency
    assert frequency.min() == 2
    assert np.median(frequency) < 10 < 200 < frequency.max()


def test_no_text_is_in_both_parts(corpus: tuple[Dataset, Dataset]) -> None:
    train, test = ({" ".join(text.casefold().split()) for text in part.corpus.texts} for part in corpus)
    assert not train & test


def test_every_text_has_labels_and_says_something(corpus: tuple[Dataset, Dataset]) -> None:
    for part in corpus:
        assert part.unlabelled == 0
        assert min(len(text.split()) for text in part.corpus.texts) >= 4
        assert not any(">>>" in text or ":param" in text for text in part.corpus.texts)


def test_labels_of_every_kind_are_there(corpus: tuple[Dataset, Dataset]) -> None:
    names = set(corpus[0].space.names)
    assert {"scipy.stats", "numpy", "logging", "DataFrame", "mean()", "axis=", "timeout="} <= names


def test_the_order_is_the_same_on_every_run() -> None:
    assert list(islice(_installed_docstrings(), 300)) == list(islice(_installed_docstrings(), 300))

"""A look at data before any training: figures of one split, and how the others relate to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treetop.data import Dataset, Findings, read, splits
from treetop.data.layout import canonical_split, folder_sources, release_of
from treetop.data.sampling import some_of
from treetop.metrics.breakdown import BANDS
from treetop.presets.datasets import known_by_size

__all__ = ["LABELS_PER_TEXT", "WORDS_PER_TEXT", "Look", "Other", "histogram", "look_at"]

_SAMPLE = 20_000  # texts whose words are counted
_MANY = 10  # labels that are listed
_EXAMPLES = 3
LABELS_PER_TEXT = (0, 1, 2, 3, 4, 5, 10, 20, 50)
"""Where the ranges of a histogram begin."""
WORDS_PER_TEXT = (0, 1, 10, 30, 100, 300, 1000, 3000, 10_000)
_TEXTS_PER_LABEL = (1, 2, 6, 11, 101, 1001, 10_001)


@dataclass(frozen=True, slots=True)
class Other:
    """Another split beside the one that is looked at."""

    texts: int
    labels: int
    """Labels that occur in it."""
    unseen_labels: int
    """Of those, the ones that do not occur in the split that is looked at."""
    shared_texts: int
    """Texts that the split that is looked at has too."""


@dataclass(frozen=True, slots=True)
class Look:
    """The figures of a split, as shown in the terminal or written as JSON."""

    split: str
    findings: Findings
    labels_per_text: Mapping[str, int]
    words_per_text: Mapping[str, int]
    """Of a sample if there are many texts; empty if there are features only."""
    texts_per_label: Mapping[str, int]
    bands: Mapping[str, tuple[int, int]]
    """Head, torso and tail: labels, and true (text, label) pairs."""
    frequent: Sequence[tuple[str, int]]
    """The most frequent labels and their texts."""
    examples: Sequence[tuple[str, Sequence[str]]]
    """Some texts and their labels."""
    features: int
    """Columns of the features that are shipped beside the texts; 0 if there are none."""
    release: str
    """Whose releases of benchmarks have such files; empty for any other."""
    benchmark: str
    """The public benchmark with as many training texts and labels; empty if there is none."""
    label_texts: bool
    """Whether labels have texts of their own."""
    others: Mapping[str, Other]

    def flat(self) -> dict[str, Any]:
        """All of it as plain lists and dictionaries, as for JSON."""
        facts = asdict(self)
        facts["findings"]["line"] = str(self.findings)
        return facts


def look_at(data: Path, split: str, **options: Any) -> Look:
    """Read the split, and the other splits of the same folder."""
    name = canonical_split(split)
    dataset = read(data, split=name, **options)
    others = [other for other in splits(data) if other != name] if data.is_dir() else []
    frequency = dataset.frequency
    per_text = np.diff(dataset.labels.indptr)
    texts, sources = dataset.corpus.texts, folder_sources(data) if data.is_dir() else {}
    known = known_by_size(len(dataset), int(np.count_nonzero(frequency))) if name == "train" else None
    sample = some_of(texts, _SAMPLE)
    return Look(
        split=name if data.is_dir() else "",
        findings=dataset.findings,
        labels_per_text=histogram(per_text, LABELS_PER_TEXT),
        words_per_text=histogram(np.array([len(text.split()) for text in sample], np.int64), WORDS_PER_TEXT),
        texts_per_label=histogram(frequency[frequency > 0], _TEXTS_PER_LABEL),
        bands=_bands(frequency),
        frequent=_frequent(dataset, frequency),
        examples=_examples(dataset),
        features=0 if dataset.corpus.features is None else dataset.corpus.features.shape[1],
        release=release_of(sources[name]) if name in sources else "",
        benchmark=known or "",
        label_texts=dataset.space.texts is not None,
        others={other: _other(dataset, read(data, split=other, space=dataset.space, **options)) for other in others},
    )


def histogram(values: NDArray[Any], starts: Sequence[int]) -> dict[str, int]:
    """How many values fall between one start and the next, by name; empty ranges at both ends are left out."""
    if not len(values):
        return {}
    counts = np.histogram(values, [*starts, np.inf])[0].tolist()
    ends = [start - 1 for start in starts[1:]]
    names = [f"{a:,}" if a == b else f"{a:,}–{b:,}" for a, b in zip(starts, ends, strict=False)] + [f"{starts[-1]:,}+"]
    filled = np.flatnonzero(counts)
    return dict(list(zip(names, counts, strict=True))[filled[0] : filled[-1] + 1])


def _bands(frequency: NDArray[np.int64]) -> dict[str, tuple[int, int]]:
    found, below = {}, 0.0
    for name, most in BANDS.items():
        members = frequency[(frequency > below) & (frequency <= most)]
        if len(members):
            found[name] = (len(members), int(members.sum()))
        below = most
    return dict(reversed(found.items()))


def _frequent(dataset: Dataset, frequency: NDArray[np.int64]) -> list[tuple[str, int]]:
    best = np.argsort(-frequency, kind="stable")[:_MANY]
    return [(dataset.space.names[label], int(frequency[label])) for label in best if frequency[label]]


def _examples(dataset: Dataset) -> list[tuple[str, Sequence[str]]]:
    """Texts at the start, in the middle and at the end that have labels; none if there are features only."""
    labels = dataset.labels
    rows = np.flatnonzero(np.diff(labels.indptr)) if len(dataset.corpus.texts) else np.zeros(0, np.int64)
    chosen = sorted({int(rows[len(rows) * part // _EXAMPLES]) for part in range(_EXAMPLES)} if len(rows) else ())
    return [
        (dataset.corpus.texts[row], [dataset.space.names[label] for label in labels[[row]].indices.tolist()])
        for row in chosen
    ]


def _other(dataset: Dataset, other: Dataset) -> Other:
    here = np.append(dataset.frequency, np.zeros(len(other.space) - len(dataset.space), np.int64))
    there = other.frequency
    return Other(
        texts=len(other),
        labels=int(np.count_nonzero(there)),
        unseen_labels=int(np.count_nonzero(there[here == 0])),
        shared_texts=int(np.isin(other.corpus.digests, dataset.corpus.digests).sum()),
    )

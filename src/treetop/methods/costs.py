"""How long the stages of a training take, before it begins: formulas of the sizes of the data.

Their rates were measured on one core of a server processor; expect a factor of two on other machines and other texts.
A run corrects itself as it goes (`treetop.progress`), so only its first minutes depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treetop.data import Dataset
from treetop.data.sampling import some_of
from treetop.labels import TreeConfig
from treetop.labels.kmeans import balanced_widths
from treetop.linear import LinearTreeConfig
from treetop.progress import Stage
from treetop.text import TfidfConfig

__all__ = ["Sizes", "growing", "planned_widths", "ranking", "ranking_level", "sizes_of", "weighing"]

_SAMPLE = 1000  # texts that are looked at
_PER_CHARACTER = 15e-9  # seconds to count the words of a text
_PER_ENTRY = 10e-9  # to compare an entry of a label's representation with two centres, in all iterations of a split
_PER_TRUE_VISIT = (40e-9, 0.6e-9)  # to teach a node a text under its own parent: for the row, and for each entry
_PER_VISIT = (10e-9, 0.2e-9)  # the same with any other text, most of which are soon left alone
_TOGETHER = 0.6  # Labels of one text share a parent so often that it has this many parents for each further label.
_THREADED = 0.8  # Two cores do 2^0.8 times the work of one.


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the cost of a training follows from."""

    texts: int
    labels: int
    true: int
    """Pairs of a text and a label."""
    characters: float
    """In all texts."""
    entries: float
    """Features of a text, on average."""
    cores: int = 1

    def seconds(self, work: float) -> float:
        """Seconds that the cores need for what takes one of them `work`."""
        return float(work / self.cores**_THREADED)


def sizes_of(train: Dataset, cores: int = 1) -> Sizes:
    """The sizes of a dataset, from a look at some of its texts."""
    corpus = train.corpus
    if len(corpus.texts):
        sample = some_of(corpus.texts, _SAMPLE)
        entries = sum(len(set(text.split())) for text in sample) / max(1, len(sample))
        held = sum(len(text) for text in sample) / max(1, len(sample)) * len(corpus)
    else:
        assert corpus.features is not None
        entries, held = corpus.features.nnz / max(1, len(corpus)), 0.0
    return Sizes(len(train), len(train.space), train.labels.nnz, held, entries, cores)


def weighing(sizes: Sizes, config: TfidfConfig) -> tuple[Stage, Sizes]:
    """The stage that makes tf-idf features, and the sizes with as many of them as the settings ask for."""
    words = 0 if config.word_ngrams is None else config.word_ngrams[1] - config.word_ngrams[0] + 1
    letters = [span[1] - span[0] + 1 for span in (config.char_wb_ngrams, config.char_ngrams) if span is not None]
    kinds = words + 4 * sum(letters)  # a word has about that many n-grams of letters of each length
    work = sizes.characters * _PER_CHARACTER * max(1, kinds)
    return Stage("tf-idf", sizes.seconds(work)), replace(sizes, entries=sizes.entries * max(1, kinds))


def planned_widths(labels: int, config: TreeConfig) -> tuple[int, ...]:
    """Nodes of each level that a tree is going to have, the labels included; of a k-means tree about that many."""
    if config.kind == "balanced":
        return (*(width for width in balanced_widths(labels, config) if width < labels), labels)
    widths = [config.branching**level for level in range(1, config.max_depth)]
    return (*(width for width in widths if width < labels / 2), labels)


def growing(sizes: Sizes, config: TreeConfig) -> Stage:
    """The stage that groups labels: every halving looks at every entry of their representation."""
    above = planned_widths(sizes.labels, config)[-2:-1] or (1,)
    halvings = max(1.0, float(np.log2(above[0])))
    return Stage("grow tree", sizes.seconds(_PER_ENTRY * sizes.entries * sizes.true * halvings))


def ranking(sizes: Sizes, widths: Sequence[int], config: LinearTreeConfig) -> list[Stage]:
    """The stages that train a linear classifier at each node of each level."""
    beam = 0 if config.negatives == "teacher" else config.search.beam
    return [
        ranking_level(sizes, above, width, level=level, beam=beam)
        for level, (above, width) in enumerate(zip((1, *widths), widths, strict=False))
    ]


def ranking_level(sizes: Sizes, parents: int, nodes: int, *, level: int, beam: int) -> Stage:
    """One level: a text visits the children of its true parents, and of those that the search finds besides."""
    labels_of_text = sizes.true / max(1, sizes.texts)
    own = min(float(parents), 1 + _TOGETHER * max(0.0, labels_of_text - 1))
    others = min(float(beam), parents - own)
    if parents == 1:  # nearly all texts that a node sees are others'
        own, others = 0.0, 1.0
    children = nodes / parents
    work = sum(
        visits * (row + entry * sizes.entries)
        for visits, (row, entry) in ((own, _PER_TRUE_VISIT), (others, _PER_VISIT))
    )
    return Stage(f"train level {level}", sizes.seconds(sizes.texts * children * work))

"""Seeded data of any size with the statistics of real extreme multi-label corpora, straight to sparse matrices.

How a text comes about:

1. Labels are Zipf–Mandelbrot, p(r) ∝ 1 / (r + q)^1.3 with q = L^0.46. For Wiki-500K's shape this gives 2 % of labels
   with more than 100 texts, as X-Transformer's figure 1 reports. Labels are grouped into topics, topics into fields.
2. A text draws a topic; each of its labels comes from that topic (mostly), from the topic's field, or from anywhere.
   A scope is drawn with the summed probability of its labels, so grouping does not change how frequent a label is.
3. A label that no training text drew is given to a text of its topic: in the benchmarks every label occurs.
4. Words come from a background (Zipf–Mandelbrot over the vocabulary), from the topic's own words, or from the own
   words of one of the text's labels. Own words are given by a hash of (owner, rank), so nothing is stored for them,
   and owners share words. Thus labels can be learned, but no label has a word of its own to give it away.
   The longer a text, the more of its words repeat earlier ones, as in real texts.
5. Counts become tf-idf rows of length one, with document frequencies of the training texts.

Everything is vectorised over chunks of texts; a chunk's random numbers depend on (seed, chunk) alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["SHAPES", "Generated", "Shape", "generate"]

CHUNK = 50_000  # texts at a time
TOPIC, FIELD = 64, 64  # labels per topic, topics per field
SCOPES = (0.7, 0.9)  # a label is of the text's topic up to here, of its field up to here, else of any
SOURCES = (0.68, 0.9)  # a word is background up to here, of the topic up to here, else of a label
TOPIC_WORDS, LABEL_WORDS = 400, 12  # own words, their use falling as 1 / rank

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The numbers of Table 1 (XR-Transformer), and words per text (LightXML, Table 2, where given)."""

    train: int
    test: int
    labels: int
    per_text: float
    """Labels per text, on average."""
    features: int
    words: float
    """Words per text, on average, before counting repeated ones together."""
    texts_per_label: float | None = None
    """As printed in the table, to compare with; it follows from the others."""

    def scaled(self, factor: float) -> Shape:
        """Fewer texts and labels, everything per text and per label as before."""
        fewer = {name: max(1, round(getattr(self, name) * factor)) for name in ("train", "test", "labels")}
        return replace(self, **fewer)


def _published(*row: float) -> Shape:
    train, test, labels, per_text, texts_per_label, features, words = row
    whole = {"train": int(train), "test": int(test), "labels": int(labels), "features": int(features)}
    return Shape(**whole, per_text=per_text, words=words, texts_per_label=texts_per_label)


SHAPES = {
    # train, test, labels, labels per text, texts per label, features, words per text
    "eurlex-4k": _published(15_449, 3_865, 3_956, 5.30, 20.79, 186_104, 1248.58),
    "wiki10-31k": _published(14_146, 6_616, 30_938, 18.64, 8.52, 101_938, 2484.30),
    "amazoncat-13k": _published(1_186_239, 306_782, 13_330, 5.04, 448.57, 203_882, 246.61),
    "wiki-500k": _published(1_779_881, 769_421, 501_070, 4.75, 16.86, 2_381_304, 808.66),
    "amazon-670k": _published(490_449, 153_025, 670_091, 5.45, 3.99, 135_909, 247.33),
    "amazon-3m": _published(1_717_899, 742_507, 2_812_281, 36.04, 22.02, 337_067, 100.0),
    "zipf-200k": Shape(train=200_000, test=20_000, labels=200_000, per_text=5.0, features=200_000, words=120.0),
}
"""The papers' benchmarks; Amazon-3M's words per text are our guess. `zipf-200k` is the comparison with PECOS."""


class Generated(NamedTuple):
    """Two splits of features (tf-idf) and labels."""

    train_features: sp.csr_matrix
    train_labels: sp.csr_matrix
    test_features: sp.csr_matrix
    test_labels: sp.csr_matrix


def generate(shape: Shape, seed: int = 0) -> Generated:
    """Draw both splits of a data set of the given shape."""
    world = _World(shape, seed)
    topics, train_labels = world.labels(shape.train, split=0)
    train_labels = world.complete(train_labels, topics)
    test_topics, test_labels = world.labels(shape.test, split=1)
    train = world.words(topics, train_labels, split=0)
    test = world.words(test_topics, test_labels, split=1)
    train, test = tfidf(train, test)
    return Generated(train, train_labels, test, test_labels)


class _World:
    """What all texts of a data set have in common: how frequent labels, topics and words are."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape, self.seed = shape, seed
        rng = np.random.default_rng([seed, 0])
        popularity = rng.permutation(zipf_mandelbrot(shape.labels, 1.3, shape.labels**0.46))
        self.label_cdf = _cdf(popularity)
        starts = np.arange(0, shape.labels, TOPIC)
        self.topic_edges = np.append(starts, shape.labels)
        self.topic_cdf = _cdf(np.add.reduceat(popularity, starts))
        self.background = _cdf(zipf_mandelbrot(shape.features, 1.05, 2.7))
        self.specific = _cdf(zipf_mandelbrot(shape.features, 0.6, 100.0))  # own words are seldom the commonest
        unseen = float(np.exp(-shape.train * shape.per_text * popularity).sum())
        self.mean = max(1.0, shape.per_text - unseen / shape.train)  # `complete` adds the rest

    def labels(self, texts: int, *, split: int) -> tuple[Ints, sp.csr_matrix]:
        """A topic for each text, and its labels: 1 + a geometric number of them."""
        drawn = [self._some_labels(rows, split) for rows in _chunks(texts)]
        topics = np.concatenate([topic for topic, _ in drawn])
        return topics, sp.vstack([matrix for _, matrix in drawn], format="csr")

    def _some_labels(self, rows: range, split: int) -> tuple[Ints, sp.csr_matrix]:
        rng = np.random.default_rng([self.seed, 1, split, rows.start])
        topics = _draw(self.topic_cdf, rng.random(len(rows)))
        wanted = 1 + rng.geometric(1 / self.mean, len(rows)) - 1
        wanted = np.minimum(wanted, max(1, self.shape.labels // 2))
        tries = 3 * wanted + 4  # some are drawn twice
        text = np.repeat(np.arange(len(rows)), tries)
        label = self._in_scope(topics[text], rng)
        return topics, _first_distinct(text, label, wanted, self.shape.labels)

    def _in_scope(self, topic: Ints, rng: np.random.Generator) -> Ints:
        """One label for each entry, from its topic, its field or anywhere, by popularity within that scope."""
        scope = np.searchsorted(SCOPES, rng.random(len(topic)), side="right")
        width = np.array([1, FIELD, len(self.topic_edges)])[scope]  # in topics
        first = topic // width * width
        last = np.minimum(first + width, len(self.topic_edges) - 1)
        edges = np.append(0.0, self.label_cdf)
        low, high = edges[self.topic_edges[first]], edges[self.topic_edges[last]]
        found = _draw(self.label_cdf, low + (high - low) * rng.random(len(topic)))
        return np.clip(found, self.topic_edges[first], self.topic_edges[last] - 1)

    def complete(self, labels: sp.csr_matrix, topics: Ints) -> sp.csr_matrix:
        """Give each label that no text has to a random text of its topic, or of any if its topic has none."""
        rng = np.random.default_rng([self.seed, 2])
        missing = np.flatnonzero(labels.getnnz(axis=0) == 0)
        texts_by_topic = np.argsort(topics, kind="stable")
        starts = np.searchsorted(topics[texts_by_topic], missing // TOPIC, side="left")
        counts = np.searchsorted(topics[texts_by_topic], missing // TOPIC, side="right") - starts
        chosen = starts + (rng.random(len(missing)) * counts).astype(np.int64)
        anyone = rng.integers(0, len(topics), len(missing))
        text = np.where(counts > 0, texts_by_topic[np.minimum(chosen, len(topics) - 1)], anyone)
        extra = sp.csr_matrix((np.ones(len(missing), np.float32), (text, missing)), shape=labels.shape)
        return sp.csr_matrix(labels + extra)

    def words(self, topics: Ints, labels: sp.csr_matrix, *, split: int) -> sp.csr_matrix:
        """How often each text has each word."""
        parts = [self._some_words(rows, topics, labels, split) for rows in _chunks(len(topics))]
        return sp.csr_matrix(sp.vstack(parts, format="csr"))

    def _some_words(self, rows: range, topics: Ints, labels: sp.csr_matrix, split: int) -> sp.csr_matrix:
        rng = np.random.default_rng([self.seed, 3, split, rows.start])
        length, fresh = _lengths(self.shape.words, len(rows), rng)
        text = np.repeat(np.arange(len(rows)), fresh)
        word = self._fresh_words(text, rows, topics, labels, rng)
        again = np.repeat(np.arange(len(rows)), length - fresh)
        earlier = np.repeat(np.cumsum(fresh) - fresh, length - fresh)
        earlier += (rng.random(len(again)) * fresh[again]).astype(np.int64)
        word, text = np.append(word, word[earlier]), np.append(text, again)
        shape = (len(rows), self.shape.features)
        return sp.csr_matrix((np.ones(len(text), np.float32), (text, word)), shape=shape)

    def _fresh_words(
        self, text: Ints, rows: range, topics: Ints, labels: sp.csr_matrix, rng: np.random.Generator
    ) -> Ints:
        """A word for each entry: of the language, of the text's topic, or of one of its labels."""
        source = np.searchsorted(SOURCES, rng.random(len(text)), side="right")
        word = _draw(self.background, rng.random(len(text)))
        of_topic, of_label = np.flatnonzero(source == 1), np.flatnonzero(source == 2)
        own = topics[rows.start + text[of_topic]]
        word[of_topic] = self._own_words(own, TOPIC_WORDS, 1, rng)
        chosen = _one_of(labels, rows.start + text[of_label], rng)
        word[of_label] = self._own_words(chosen, LABEL_WORDS, 2, rng)
        return word

    def _own_words(self, owner: Ints, count: int, kind: int, rng: np.random.Generator) -> Ints:
        rank = _draw(_cdf(zipf_mandelbrot(count, 1.0, 1.0)), rng.random(len(owner)))
        return _draw(self.specific, uniform_hash(owner * count + rank, 2 * self.seed + 1000 * kind))


def _lengths(mean: float, texts: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Words of each text, log-normal, and how many of them do not repeat an earlier one."""
    spread = 0.6  # of the logarithm
    length = np.maximum(1, rng.lognormal(np.log(mean) - spread**2 / 2, spread, texts)).astype(np.int64)
    fresh = np.ceil(length / (1 + length / 150) ** 0.58).astype(np.int64)  # 578 words: 40 %, 40 words: 87 %
    return length, fresh


def zipf_mandelbrot(size: int, exponent: float, offset: float) -> Floats:
    """Probabilities p(r) ∝ 1 / (r + offset)^exponent, r = 1 … size."""
    weights = (np.arange(1, size + 1) + offset) ** -exponent
    return np.asarray(weights / weights.sum())


def uniform_hash(keys: Ints, salt: int) -> Floats:
    """A number in [0, 1) for each key, always the same: the finaliser of splitmix64."""
    z = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(11), np.float64) * 2.0**-53


def tfidf(train: sp.csr_matrix, test: sp.csr_matrix) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """tf · (ln((1 + N) / (1 + df)) + 1), rows of length one; N and df of the training texts."""
    frequency = train.getnnz(axis=0)
    idf = (np.log((1 + train.shape[0]) / (1 + frequency)) + 1).astype(np.float32)
    return _weighted(train, idf), _weighted(test, idf)


def _weighted(counts: sp.csr_matrix, idf: NDArray[np.float32]) -> sp.csr_matrix:
    counts.data *= idf[counts.indices]
    lengths = np.sqrt(np.add.reduceat(counts.data.astype(np.float64) ** 2, counts.indptr[:-1]))
    counts.data /= np.repeat(lengths, np.diff(counts.indptr)).astype(np.float32)
    return counts


def _cdf(probabilities: Floats) -> Floats:
    total = np.cumsum(probabilities)
    return np.asarray(total / total[-1])


def _draw(cdf: Floats, uniform: Floats) -> Ints:
    return np.minimum(np.searchsorted(cdf, uniform, side="right"), len(cdf) - 1)


def _chunks(texts: int) -> Iterator[range]:
    for start in range(0, texts, CHUNK):
        yield range(start, min(start + CHUNK, texts))


def _first_distinct(text: Ints, label: Ints, wanted: Ints, width: int) -> sp.csr_matrix:
    """The first `wanted` different labels of each text, in the order drawn."""
    key, first = np.unique(text * np.int64(width) + label, return_index=True)
    order = np.lexsort((first, key // width))
    rows = (key // width)[order]
    counts = np.bincount(rows, minlength=len(wanted))
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    keep = order[rank < wanted[rows]]
    ones = np.ones(len(keep), np.float32)
    return sp.csr_matrix((ones, (key[keep] // width, key[keep] % width)), shape=(len(wanted), width))


def _one_of(labels: sp.csr_matrix, text: Ints, rng: np.random.Generator) -> Ints:
    """A random label of each text given."""
    start, stop = labels.indptr[text], labels.indptr[text + 1]
    return labels.indices[start + (rng.random(len(text)) * (stop - start)).astype(np.int64)].astype(np.int64)
